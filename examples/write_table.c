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
 * What to see: axes that rise, arrays over (temperature, density), and
 * the attribute `units` of each array. Opacities by group would have a third
 * dimension, and the file a list `group_edges`.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <hdf5.h>

enum { N_T = 61, N_RHO = 3 };

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

/* An array of one or two dimensions; 0: good. */
static int put(hid_t file, const char *name, const char *units, int n_dims,
               const void *values)
{
    const hsize_t shape[2] = {strcmp(name, "density") == 0 ? N_RHO : N_T,
                              N_RHO};
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

int main(int argc, char **argv)
{
    const char *path = argc > 1 ? argv[1] : "table.h5";
    make_table();
    hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    if (file < 0)
        return 1; /* HDF5 has reported why */
    int failed = put(file, "temperature", "keV", 1, temperature) +
                 put(file, "density", "g/cm3", 1, density) +
                 put(file, "absorption", "cm2/g", 2, absorption) +
                 put(file, "scattering", "cm2/g", 2, scattering) +
                 put(file, "energy", "erg/g", 2, energy);
    if (H5Fclose(file) < 0 || failed > 0)
        return 1;
    printf("%s: %d temperatures, %d densities\n", path, N_T, N_RHO);
    return 0;
}
