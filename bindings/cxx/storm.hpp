/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file storm.hpp
 * storm/host.h for C++17: an object that releases itself, spans, exceptions.
 * All that is not said here is said there.
 *
 * Exceptions  a call that fails throws storm::error with the text of
 *             storm_host_problem. Where they are off (-fno-exceptions, or
 *             STORM_NO_EXCEPTIONS is defined before this header), the same
 *             calls return their storm_status instead, and host::status has
 *             that of the last one, the constructor included.
 * Spans       std::span in C++20; before, a pointer and a size that arrays and
 *             containers convert to. Nothing is copied.
 * Release     is collective: let objects end on all ranks at the same place,
 *             and before MPI_Finalize.
 */
#ifndef STORM_HPP
#define STORM_HPP

#include <array>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>
#if __cplusplus >= 202002L
#include <span>
#endif

#include <storm/exact.h>
#include <storm/host.h>

#if defined(__cpp_exceptions) && !defined(STORM_NO_EXCEPTIONS)
#define STORM_HPP_THROWS 1
#else
#define STORM_HPP_THROWS 0
#endif

namespace storm
{

#if defined(__cpp_lib_span)
template <class T> using span = std::span<T>;
#else
template <class T> class span
{
  public:
    constexpr span() noexcept : data_(nullptr), size_(0)
    {
    }
    constexpr span(T *data, std::size_t size) noexcept
        : data_(data), size_(size)
    {
    }
    template <std::size_t N>
    constexpr span(T (&array)[N]) noexcept : data_(array), size_(N)
    {
    }
    /** Of anything that has data() and size(). */
    template <class C, class = std::enable_if_t<std::is_convertible_v<
                           decltype(std::declval<C &>().data()), T *>>>
    constexpr span(C &&container) noexcept
        : data_(container.data()), size_(container.size())
    {
    }
    constexpr T *data() const noexcept
    {
        return data_;
    }
    constexpr std::size_t size() const noexcept
    {
        return size_;
    }
    constexpr T &operator[](std::size_t i) const
    {
        return data_[i];
    }
    constexpr T *begin() const noexcept
    {
        return data_;
    }
    constexpr T *end() const noexcept
    {
        return data_ + size_;
    }

  private:
    T *data_;
    std::size_t size_;
};
#endif
using reals = span<const double>;

/** A call that failed. */
class error : public std::runtime_error
{
  public:
    error(storm_status status, const std::string &text)
        : std::runtime_error(text), status_(status)
    {
    }
    storm_status status() const noexcept
    {
        return status_;
    }

  private:
    storm_status status_;
};

#if STORM_HPP_THROWS
using result = void;
#else
using result = storm_status;
#endif

/** storm_host_scatter without its `self`. What it throws ends the step, and is
 *  thrown again by host::step on this rank. */
using scatter =
    std::function<int(int material, std::uint64_t tag, const double *matter,
                      double *photon, void *draws)>;

/** Mesh, matter and radiation of a host; it can be moved, not copied. */
class host
{
  public:
    explicit host(MPI_Comm comm, const char *options = nullptr)
    {
        (void)done(storm_host_create(comm, options, &host_));
    }
    ~host()
    {
        storm_host_destroy(host_);
    }
    host(const host &) = delete;
    host &operator=(const host &) = delete;
    host(host &&other) noexcept
        : host_(std::exchange(other.host_, nullptr)), status_(other.status_),
          scatter_(std::move(other.scatter_)), n_given_(other.n_given_)
    {
    }
    host &operator=(host &&other) noexcept
    {
        std::swap(host_, other.host_);
        std::swap(status_, other.status_);
        std::swap(scatter_, other.scatter_);
        std::swap(n_given_, other.n_given_);
        return *this;
    }

    /** The object of C; NULL: it could not be made. */
    storm_host *get() const noexcept
    {
        return host_;
    }
    storm_status status() const noexcept
    {
        return status_;
    }
    const char *problem() const noexcept
    {
        return storm_host_problem(host_);
    }
    void quiet(bool is_quiet)
    {
        storm_host_set_quiet(host_, is_quiet);
    }
    int rank() const noexcept
    {
        return storm_host_rank(host_);
    }
    int size() const noexcept
    {
        return storm_host_size(host_);
    }

    /** What is beneath, for calls of C. */
    storm_context *context() const noexcept
    {
        return storm_host_context(host_);
    }
    storm_mesh *mesh() const noexcept
    {
        return storm_host_mesh(host_);
    }
    storm_imc *imc() const noexcept
    {
        return storm_host_imc(host_);
    }
    storm_engine *engine() const noexcept
    {
        return storm_host_engine(host_);
    }

    /** All parameters, and names of fields. */
    struct parameter {
        const char *name;
        double default_value;
        const char *help;
    };
    static std::vector<parameter> parameters()
    {
        std::vector<parameter> all;
        parameter p{};
        while ((p.name = storm_host_parameter(all.size(), &p.default_value,
                                              &p.help)) != nullptr)
            all.push_back(p);
        return all;
    }
    static const char *field_name(int field)
    {
        return storm_host_field_name(field);
    }

    /** A parameter: a number of any type. */
    template <class T, class = std::enable_if_t<std::is_arithmetic_v<T>>>
    result set(const char *name, T value)
    {
        if constexpr (std::is_integral_v<T>)
            return done(storm_host_set_int(host_, name,
                                           static_cast<std::int64_t>(value)));
        else
            return done(storm_host_set_double(host_, name,
                                              static_cast<double>(value)));
    }
    result set_groups(reals edges_kev)
    {
        return done(storm_host_set_groups(host_, edges_kev.data(),
                                          edges_kev.size()));
    }
    /** Its number; -1: an error. */
    int add_material(const char *name)
    {
        int number = -1;
        (void)done(storm_host_add_material(host_, name, &number));
        return number;
    }
    result set_law(int material, storm_host_law law, reals values)
    {
        return done(storm_host_set_law(host_, material, law, values.data(),
                                       values.size()));
    }
    result set_by_cell(int material, storm_host_law law, double start)
    {
        return done(storm_host_set_by_cell(host_, material, law, start));
    }
    result set_scattering(int material, storm_scattering_law law)
    {
        return done(storm_host_set_scattering(host_, material, law));
    }
    result set_electrons(int material, double per_g)
    {
        return done(storm_host_set_electrons(host_, material, per_g));
    }
    result set_scatter(scatter function)
    {
        auto next = std::make_unique<scattering>();
        next->function = std::move(function);
        const storm_status status =
            storm_host_set_scatter(host_, &host::call_scatter, next.get());
        if (status >= 0) /* else the one before is still in use */
            scatter_ = std::move(next);
        return done(status);
    }
    static std::array<double, 4> random(void *draws)
    {
        std::array<double, 4> uniform{};
        storm_host_random(draws, uniform.data());
        return uniform;
    }
    result set_start(int material, double density_g_cm3, double kev)
    {
        return done(storm_host_set_start(host_, material, density_g_cm3, kev));
    }
    result set_wall(int wall, storm_wall_kind kind)
    {
        return done(storm_host_set_wall(host_, wall, kind));
    }
    result set_blackbody(int wall, double kev, std::int64_t packets)
    {
        return done(storm_host_set_blackbody(host_, wall, nullptr, &kev, 1,
                                             packets));
    }
    /** As many temperatures as times. */
    result set_blackbody(int wall, reals times_s, reals kev,
                         std::int64_t packets)
    {
        if (times_s.size() != kev.size())
            return done(STORM_ERR_ARG,
                        "set_blackbody: as many temperatures as times");
        return done(storm_host_set_blackbody(host_, wall, times_s.data(),
                                             kev.data(), kev.size(), packets));
    }

    result set_edges(int axis, reals edges_cm)
    {
        return done(storm_host_set_edges(host_, axis, edges_cm.data(),
                                         edges_cm.size()));
    }
    result mesh_cart(const std::array<std::int64_t, 3> &first,
                     const std::array<std::int64_t, 3> &n)
    {
        return done(storm_host_mesh_cart(host_, first.data(), n.data()));
    }
    /** Of the points that come next. */
    result set_tags(span<const std::uint64_t> tags)
    {
        return done(storm_host_set_tags(host_, tags.data(), tags.size()));
    }
    /** Three coordinates for each point. */
    result mesh_points(const std::array<double, 3> &lo,
                       const std::array<double, 3> &hi, reals points_cm)
    {
        if (points_cm.size() % 3 != 0)
            return done(STORM_ERR_ARG, "mesh_points: three coordinates each");
        return done(storm_host_mesh_points(host_, lo.data(), hi.data(),
                                           points_cm.data(),
                                           points_cm.size() / 3));
    }
    /** No centroids: the points. */
    result give_cells(span<const std::uint64_t> tags, reals points_cm,
                      reals volumes_cm3, reals centroids_cm = {})
    {
        const std::size_t n = tags.size(), c = centroids_cm.size();
        if (points_cm.size() != 3 * n || volumes_cm3.size() != n ||
            (c != 0 && c != 3 * n))
            return done(STORM_ERR_ARG, "give_cells: lengths differ");
        n_given_ = n;
        return done(storm_host_give_cells(host_, n, tags.data(),
                                          points_cm.data(), volumes_cm3.data(),
                                          c != 0 ? centroids_cm.data()
                                                 : nullptr));
    }
    result give_faces(span<const std::uint64_t> first_face, reals normals,
                      reals on_planes_cm, reals areas_cm2,
                      span<const std::int64_t> behind)
    {
        const std::size_t n = behind.size(), cells = first_face.size();
        if (cells != n_given_ + 1 || first_face[cells - 1] != n ||
            normals.size() != 3 * n || on_planes_cm.size() != 3 * n ||
            areas_cm2.size() != n)
            return done(STORM_ERR_ARG, "give_faces: lengths differ");
        return done(storm_host_give_faces(host_, first_face.data(),
                                          normals.data(), on_planes_cm.data(),
                                          areas_cm2.data(), behind.data()));
    }
    result mesh_given(int n_boundaries)
    {
        return done(storm_host_mesh_given(host_, n_boundaries));
    }
    result begin()
    {
        return done(storm_host_begin(host_));
    }

    std::size_t n_cells() const
    {
        return storm_host_n_cells(host_);
    }
    std::size_t n_values(int field) const
    {
        return storm_host_n_values(host_, field);
    }
    result request(int field)
    {
        return done(storm_host_request(host_, field));
    }
    result set(storm_host_field field, reals values)
    {
        return done(storm_host_set(host_, field, values.data(), values.size()));
    }
    result get(storm_host_field field, span<double> values_out)
    {
        return done(storm_host_get(host_, field, values_out.data(),
                                   values_out.size()));
    }
    /** A new array; empty after an error. */
    std::vector<double> get(storm_host_field field)
    {
        std::vector<double> values(n_cells() * n_values(field));
        (void)get(field, span<double>(values.data(), values.size()));
        if (status_ < 0)
            values.clear();
        return values;
    }
    /** Tags of the cells; empty after an error. */
    std::vector<std::uint64_t> tags()
    {
        std::vector<std::uint64_t> all(n_cells());
        (void)done(storm_host_get_tags(host_, all.data(), all.size()));
        return status_ < 0 ? std::vector<std::uint64_t>() : all;
    }
    result add_heat(reals erg)
    {
        return done(storm_host_add_heat(host_, erg.data(), erg.size()));
    }
    result declare_work(reals erg)
    {
        return done(storm_host_declare_work(host_, erg.data(), erg.size()));
    }

    result step(double time_s, double dt_s)
    {
        return done(storm_host_step(host_, time_s, dt_s));
    }
    /** For relative changes of about @p target; 0 after an error. */
    double next_dt(double target = 0.0)
    {
        double dt_s = 0.0;
        (void)done(storm_host_next_dt(host_, target, &dt_s));
        return dt_s;
    }
    /** By enum storm_host_energies; 0 after an error. */
    std::array<double, STORM_HOST_N_ENERGIES> energy()
    {
        std::array<double, STORM_HOST_N_ENERGIES> erg{};
        (void)done(storm_host_energy(host_, erg.data(), erg.size()));
        return erg;
    }
    std::array<double, STORM_HOST_N_MOMENTA> momentum()
    {
        std::array<double, STORM_HOST_N_MOMENTA> momenta{};
        (void)done(storm_host_momentum(host_, momenta.data(), momenta.size()));
        return momenta;
    }
    std::uint64_t hash()
    {
        std::uint64_t value = 0;
        (void)done(storm_host_hash(host_, &value));
        return value;
    }

    result move_points(reals points_cm)
    {
        return done(storm_host_move(host_, points_cm.data(), points_cm.size()));
    }
    result replace()
    {
        return done(storm_host_replace(host_));
    }
    result repartition()
    {
        return done(storm_host_repartition(host_));
    }

    /** The piece of this rank; empty after an error. */
    std::vector<unsigned char> save()
    {
        std::size_t n = 0;
        (void)done(storm_host_state_bytes(host_, &n));
        std::vector<unsigned char> bytes(n);
        if (status_ >= 0)
            (void)done(storm_host_save(host_, bytes.data(), n));
        if (status_ < 0)
            bytes.clear();
        return bytes;
    }
    /** All pieces that this rank has. */
    result load(span<const unsigned char> bytes)
    {
        return done(storm_host_load(host_, bytes.data(), bytes.size()));
    }

  private:
    struct scattering {
        scatter function;
        std::exception_ptr thrown;
    };

    /* Nothing may be thrown through the library. */
    static int call_scatter(void *self, int material, std::uint64_t tag,
                            const double *matter, double *photon, void *draws)
    {
        scattering *s = static_cast<scattering *>(self);
        if (!s->function)
            return -1;
#if STORM_HPP_THROWS
        try {
            return s->function(material, tag, matter, photon, draws);
        } catch (...) {
            s->thrown = std::current_exception();
            return -1;
        }
#else
        return s->function(material, tag, matter, photon, draws);
#endif
    }

    result done(storm_status status, const char *why = nullptr)
    {
        status_ = status;
#if STORM_HPP_THROWS
        if (status >= 0)
            return;
        if (scatter_ && scatter_->thrown)
            std::rethrow_exception(std::exchange(scatter_->thrown, nullptr));
        const std::string text = why != nullptr ? why : problem();
        throw error(status, std::string(storm_status_name(status)) +
                                (text.empty() ? "" : ": ") + text);
#else
        (void)why;
        return status;
#endif
    }

    storm_host *host_ = nullptr;
    storm_status status_ = STORM_OK;
    std::unique_ptr<scattering> scatter_;
    std::size_t n_given_ = 0; /* cells that were given last */
};

/** A sum with the same bits in any order (storm/exact.h). */
class sum
{
  public:
    explicit sum(double bound)
    {
        status_ = storm_sum_begin(&sum_, bound);
    }
    /** false: the term is not finite or above the bound; it is not added. */
    bool add(double term)
    {
        return status_ == STORM_OK && storm_sum_add(&sum_, term) == STORM_OK;
    }
    double value() const
    {
        return storm_sum_value(&sum_);
    }
    storm_status status() const noexcept
    {
        return status_;
    }
    /** Over all ranks. Collective. */
    storm_status reduce(const host &h)
    {
        if (status_ == STORM_OK)
            status_ = storm_sum_reduce(storm_host_context(h.get()), &sum_, 1);
        return status_;
    }

  private:
    storm_sum sum_{};
    storm_status status_;
};

} // namespace storm

#endif /* STORM_HPP */
