/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST args: write_table.h5 */
/*
 * Writes a table of matter into an HDF5 file that decks can read
 * (docs/matter-files.md).
 *
 *   h5cc write_table.c -lm
 *   ./a.out slab.h5
 *   storm run examples/decks/marshak.yaml --set \
 *       "materials=[{name: slab, table: $PWD/slab.h5, temperature: 1e-3}]"
 *
 * The matter is a plasma whose opacity falls as T^-3, with an edge that fades
 * where it is ionised, and whose heat capacity grows with ionisation.
 *
 *   ./a.out metal.h5 opacities.csv
 *
 * writes absorption by group instead, for matter whose temperature is held: a
 * row of the file is the lower and upper edge of a group, keV, and its
 * opacity, cm2/g; lines that are no numbers are skipped.
 *
 * What to see: axes that rise, arrays over (temperature, density, group), and
 * the attribute `units` of each array.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <hdf5.h>

enum { N_T = 61, N_RHO = 3, MAX_GROUPS = 1000 };

static double temperature[N_T], density[N_RHO];
static double absorption[N_T][N_RHO], scattering[N_T][N_RHO];
static double energy[N_T][N_RHO];

static void make_table(void)
{
    for (int j = 0; j < N_RHO; j++)
        density[j] = pow(10.0, j - 1); /* g/cm3 */
    for (int i = 0; i < N_T; i++) {
        double t = pow(10.0, -4.0 + 5.0 * i / (N_T - 1)); /* keV */
        temperature[i] = t;
        for (int j = 0; j < N_RHO; j++) {
            double ionised = t / (t + 0.1);
            absorption[i][j] = 300.0 * pow(t, -3.0) * density[j]; /* cm2/g */
            scattering[i][j] = 0.2 * ionised;
            energy[i][j] = 3e15 * t * (0.5 + 0.5 * ionised); /* erg/g */
        }
    }
}

static int put_units(hid_t set, const char *units)
{
    hid_t type = H5Tcopy(H5T_C_S1);
    hid_t space = H5Screate(H5S_SCALAR);
    H5Tset_size(type, strlen(units));
    hid_t mark =
        H5Acreate2(set, "units", type, space, H5P_DEFAULT, H5P_DEFAULT);
    herr_t written = H5Awrite(mark, type, units);
    H5Aclose(mark);
    H5Sclose(space);
    H5Tclose(type);
    return written < 0;
}

/* An array of some dimensions; 0: good. */
static int put(hid_t file, const char *name, const char *units, int n_dims,
               const hsize_t *shape, const void *values)
{
    hid_t space = H5Screate_simple(n_dims, shape, NULL);
    hid_t set = H5Dcreate2(file, name, H5T_NATIVE_DOUBLE, space, H5P_DEFAULT,
                           H5P_DEFAULT, H5P_DEFAULT);
    herr_t written =
        H5Dwrite(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values);
    int failed = written < 0 || put_units(set, units);
    H5Dclose(set);
    H5Sclose(space);
    return failed;
}

/* The plasma; 0: good. */
static int put_plasma(hid_t file)
{
    const hsize_t both[2] = {N_T, N_RHO}, densities = N_RHO;
    make_table();
    return put(file, "temperature", "keV", 1, both, temperature) +
           put(file, "density", "g/cm3", 1, &densities, density) +
           put(file, "absorption", "cm2/g", 2, both, absorption) +
           put(file, "scattering", "cm2/g", 2, both, scattering) +
           put(file, "energy", "erg/g", 2, both, energy);
}

/* Rows of edges and opacities; the number of groups, 0: no such file. */
static size_t read_groups(const char *path, double *edges, double *opacities)
{
    FILE *file = fopen(path, "r");
    char line[256];
    size_t n = 0;
    while (file != NULL && n < MAX_GROUPS && fgets(line, sizeof line, file))
        if (sscanf(line, "%lf,%lf,%lf", &edges[n], &edges[n + 1],
                   &opacities[n]) == 3)
            n++;
    if (file != NULL)
        fclose(file);
    return n;
}

/* The same opacities at two temperatures and one density: they depend on
 * neither. Without `energy` the temperature is held; 0: good. */
static int put_groups(hid_t file, const char *path)
{
    static double edges[MAX_GROUPS + 1], opacities[2 * MAX_GROUPS];
    const double kev[2] = {1e-3, 1e3}, one = 1.0;
    size_t n = read_groups(path, edges, opacities);
    const hsize_t shape[3] = {2, 1, n}, n_edges = n + 1;
    if (n == 0)
        return 1;
    memcpy(opacities + n, opacities, n * sizeof *opacities);
    return put(file, "temperature", "keV", 1, &shape[0], kev) +
           put(file, "density", "g/cm3", 1, &shape[1], &one) +
           put(file, "group_edges", "keV", 1, &n_edges, edges) +
           put(file, "absorption", "cm2/g", 3, shape, opacities);
}

int main(int argc, char **argv)
{
    const char *path = argc > 1 ? argv[1] : "table.h5";
    hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    if (file < 0)
        return 1; /* HDF5 has reported why */
    int failed = argc > 2 ? put_groups(file, argv[2]) : put_plasma(file);
    if (H5Fclose(file) < 0 || failed > 0)
        return 1;
    printf("%s\n", path);
    return 0;
}
