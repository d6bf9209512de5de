! SPDX-License-Identifier: BSD-3-Clause
!> storm/host.h for Fortran 2008: an object with calls as in C, whose names lack
!> `storm_host_`. What is not said here is said there.
!>
!> Numbers count from 1: materials, walls, directions, first cells of blocks,
!> faces of given cells, boundaries behind faces (as -1, -2, ...). Tags do not.
!> Arrays that are contiguous are used in place. A vector of each cell is an
!> array (3, n_cells).
!>
!> The last argument of each call, `status`, may be left out: an error then
!> prints its text and stops the program.
module storm
    use, intrinsic :: iso_c_binding
    use, intrinsic :: iso_fortran_env, only: error_unit
    implicit none
    private

    integer, parameter, public :: STORM_OK = 0, STORM_ERR_ARG = -1, &
        STORM_ERR_STATE = -2, STORM_ERR_NOMEM = -3, STORM_ERR_NOSUP = -4, &
        STORM_ERR_IO = -5, STORM_ERR_FABRIC = -6, STORM_ERR_PEER = -7, &
        STORM_ERR_LOST = -8, STORM_ERR_DEVICE = -9
    integer, parameter, public :: STORM_WALL_VACUUM = 0, &
        STORM_WALL_REFLECT = 1, STORM_WALL_PERIODIC = 2
    integer, parameter, public :: STORM_HOST_LAW_ABSORPTION = 0, &
        STORM_HOST_LAW_SCATTERING = 1, STORM_HOST_LAW_HEAT = 2
    integer, parameter, public :: STORM_SCATTER_ISOTROPIC = 0, &
        STORM_SCATTER_THOMSON = 1, STORM_SCATTER_COMPTON = 2, &
        STORM_SCATTER_USER = 3
    integer, parameter, public :: STORM_HOST_TEMPERATURE = 0, &
        STORM_HOST_HEAT = 1, STORM_HOST_DENSITY = 2, STORM_HOST_MATERIAL = 3, &
        STORM_HOST_EMISSION = 4, STORM_HOST_VELOCITY = 5, &
        STORM_HOST_RADIATION_START = 6, STORM_HOST_ABSORPTION = 7, &
        STORM_HOST_SCATTERING = 8, STORM_HOST_HEAT_CAPACITY = 9, &
        STORM_HOST_FRAME = 10, &
        STORM_HOST_RADIATION = 16, STORM_HOST_CENSUS = 17, &
        STORM_HOST_ABSORBED = 18, STORM_HOST_EMITTED = 19, &
        STORM_HOST_PUSH = 20, STORM_HOST_FLUX = 21, STORM_HOST_PRESSURE = 22, &
        STORM_HOST_GROUPS = 23, STORM_HOST_VOLUME = 24, STORM_HOST_CENTRE = 25
    !> Places in the array of `energy`.
    integer, parameter, public :: STORM_HOST_E_MATTER = 1, &
        STORM_HOST_E_RADIATION = 2, STORM_HOST_E_START = 3, &
        STORM_HOST_E_WALLS = 4, STORM_HOST_E_OTHERS = 5, &
        STORM_HOST_E_ESCAPED = 6, STORM_HOST_E_HELD = 7, &
        STORM_HOST_E_WORK = 8, STORM_HOST_E_HOST = 9, &
        STORM_HOST_E_DECLARED = 10, STORM_HOST_E_ERROR = 11, &
        STORM_HOST_N_ENERGIES = 11, STORM_HOST_N_MOMENTA = 19

    !> Mesh, matter and radiation of a host. To destroy it is collective, so it
    !> is not done when it goes out of scope.
    type, public :: storm_host
        private
        type(c_ptr) :: object = c_null_ptr
        ! 0-based copies, which the library uses after the call
        integer(c_int64_t), allocatable :: first_face(:)
    contains
        procedure :: create
        procedure :: destroy
        procedure :: problem
        procedure :: set_quiet
        procedure :: rank
        procedure :: size => host_size
        procedure, private :: set_int, set_long, set_double
        generic :: set_parameter => set_int, set_long, set_double
        procedure :: set_groups
        procedure :: add_material
        procedure :: set_law
        procedure :: set_by_cell
        procedure :: set_scattering
        procedure :: set_electrons
        procedure :: set_scatter
        procedure :: set_start
        procedure :: set_wall
        procedure, private :: set_blackbody_1, set_blackbody_n
        generic :: set_blackbody => set_blackbody_1, set_blackbody_n
        procedure :: set_edges
        procedure :: mesh_cart
        procedure :: set_tags
        procedure :: mesh_points
        procedure :: give_cells
        procedure :: give_faces
        procedure :: mesh_given
        procedure :: begin
        procedure :: n_cells
        procedure :: n_values
        procedure :: get_tags
        procedure :: request
        procedure, private :: set_1, set_2, get_1, get_2
        generic :: set => set_1, set_2
        generic :: get => get_1, get_2
        procedure :: add_heat
        procedure :: declare_work
        procedure :: step
        procedure :: next_dt
        procedure :: energy
        procedure :: momentum
        procedure :: hash
        procedure :: move
        procedure :: replace
        procedure :: repartition
        procedure :: save => save_state
        procedure :: load => load_state
        procedure :: context
        procedure :: mesh
        procedure :: imc
        procedure :: engine
    end type

    public :: storm_host_field_name, storm_host_hex, storm_host_parameter, &
        storm_host_random, storm_scatter

    include 'storm_calls.inc'

    abstract interface
        !> A collision (storm_host_scatter). C calls it: materials count from 0,
        !> matter is temperature and density, photon is direction, energy and
        !> the energy of the packet after over before. 0: there was none.
        function storm_scatter(self, material, tag, matter, photon, draws) &
            bind(c) result(answer)
            import
            type(c_ptr), value :: self, draws
            integer(c_int), value :: material
            integer(c_int64_t), value :: tag
            real(c_double), intent(in) :: matter(2)
            real(c_double), intent(inout) :: photon(5)
            integer(c_int) :: answer
        end function
    end interface

contains

    ! ---- errors ----

    !> A text of C.
    function text_of(text) result(copy)
        type(c_ptr), intent(in) :: text
        character(len=:), allocatable :: copy
        character(kind=c_char), pointer :: letters(:)
        integer :: i
        copy = ''
        if (.not. c_associated(text)) return
        call c_f_pointer(text, letters, [c_strlen(text)])
        do i = 1, size(letters)
            copy = copy // letters(i)
        end do
    end function

    !> Hands the status out, or stops the program.
    subroutine done(self, code, status)
        class(storm_host), intent(in) :: self
        integer(c_int), intent(in) :: code
        integer, intent(out), optional :: status
        if (present(status)) then
            status = code
        else if (code < 0) then
            call stop_with(text_of(c_status_name(code)) // ': ' // &
                self%problem())
        end if
    end subroutine

    !> The same for an error that is found here.
    subroutine refuse(why, status)
        character(len=*), intent(in) :: why
        integer, intent(out), optional :: status
        if (.not. present(status)) call stop_with('bad argument: ' // why)
        if (present(status)) status = STORM_ERR_ARG
    end subroutine

    subroutine stop_with(text)
        character(len=*), intent(in) :: text
        write (error_unit, '(2a)') 'storm: ', text
        flush (error_unit)
        error stop 1
    end subroutine

    function problem(self) result(text)
        class(storm_host), intent(in) :: self
        character(len=:), allocatable :: text
        text = text_of(c_problem(self%object))
    end function

    function storm_host_field_name(field) result(text)
        integer, intent(in) :: field
        character(len=:), allocatable :: text
        text = text_of(c_field_name(int(field, c_int)))
    end function

    !> The i-th parameter of set_parameter: its name, empty past the end.
    subroutine storm_host_parameter(i, name, default, help)
        integer, intent(in) :: i
        character(len=:), allocatable, intent(out) :: name, help
        real(c_double), intent(out) :: default
        type(c_ptr) :: text
        default = 0
        text = c_null_ptr
        name = text_of(c_parameter(int(i - 1, c_size_t), default, text))
        help = text_of(text)
    end subroutine

    !> Four random numbers, for a function of set_scatter.
    subroutine storm_host_random(draws, uniform)
        type(c_ptr), intent(in) :: draws
        real(c_double), intent(out) :: uniform(4)
        call c_random(draws, uniform)
    end subroutine

    !> A hash as 16 digits, as other languages print it.
    function storm_host_hex(bits) result(text)
        integer(c_int64_t), intent(in) :: bits
        character(len=16) :: text
        character(len=*), parameter :: digits = '0123456789abcdef'
        integer :: i, digit
        do i = 1, 16
            digit = int(ibits(bits, 64 - 4 * i, 4))
            text(i:i) = digits(digit + 1:digit + 1)
        end do
    end function

    ! ---- life ----

    !> comm: a communicator of `use mpi`; of `use mpi_f08` its MPI_VAL.
    subroutine create(self, comm, options, status)
        class(storm_host), intent(inout) :: self
        integer, intent(in) :: comm
        character(len=*), intent(in), optional :: options
        integer, intent(out), optional :: status
        character(len=:), allocatable :: text
        text = ''
        if (present(options)) text = options
        call done(self, c_create(int(comm, c_int), text // c_null_char, &
            self%object), status)
    end subroutine

    subroutine destroy(self)
        class(storm_host), intent(inout) :: self
        call c_destroy(self%object)
        self%object = c_null_ptr
    end subroutine

    subroutine set_quiet(self, is_quiet)
        class(storm_host), intent(in) :: self
        logical, intent(in) :: is_quiet
        call c_set_quiet(self%object, merge(1_c_int, 0_c_int, is_quiet))
    end subroutine

    integer function rank(self)
        class(storm_host), intent(in) :: self
        rank = c_rank(self%object)
    end function

    integer function host_size(self)
        class(storm_host), intent(in) :: self
        host_size = c_size(self%object)
    end function

    ! ---- stage 2 ----

    subroutine set_int(self, name, number, status)
        class(storm_host), intent(in) :: self
        character(len=*), intent(in) :: name
        integer, intent(in) :: number
        integer, intent(out), optional :: status
        call set_long(self, name, int(number, c_int64_t), status)
    end subroutine

    subroutine set_long(self, name, number, status)
        class(storm_host), intent(in) :: self
        character(len=*), intent(in) :: name
        integer(c_int64_t), intent(in) :: number
        integer, intent(out), optional :: status
        call done(self, c_set_int(self%object, name // c_null_char, number), &
            status)
    end subroutine

    subroutine set_double(self, name, number, status)
        class(storm_host), intent(in) :: self
        character(len=*), intent(in) :: name
        real(c_double), intent(in) :: number
        integer, intent(out), optional :: status
        call done(self, c_set_double(self%object, name // c_null_char, &
            number), status)
    end subroutine

    subroutine set_groups(self, edges_kev, status)
        class(storm_host), intent(in) :: self
        real(c_double), intent(in), contiguous :: edges_kev(:)
        integer, intent(out), optional :: status
        call done(self, c_set_groups(self%object, edges_kev, &
            size(edges_kev, kind=c_size_t)), status)
    end subroutine

    subroutine add_material(self, name, material, status)
        class(storm_host), intent(in) :: self
        character(len=*), intent(in) :: name
        integer, intent(out) :: material
        integer, intent(out), optional :: status
        integer(c_int) :: number
        number = -1
        call done(self, c_add_material(self%object, name // c_null_char, &
            number), status)
        material = number + 1
    end subroutine

    subroutine set_law(self, material, law, numbers, status)
        class(storm_host), intent(in) :: self
        integer, intent(in) :: material, law
        real(c_double), intent(in), contiguous :: numbers(:)
        integer, intent(out), optional :: status
        call done(self, c_set_law(self%object, int(material - 1, c_int), &
            int(law, c_int), numbers, size(numbers, kind=c_size_t)), status)
    end subroutine

    subroutine set_by_cell(self, material, law, start, status)
        class(storm_host), intent(in) :: self
        integer, intent(in) :: material, law
        real(c_double), intent(in) :: start
        integer, intent(out), optional :: status
        call done(self, c_set_by_cell(self%object, int(material - 1, c_int), &
            int(law, c_int), start), status)
    end subroutine

    subroutine set_scattering(self, material, law, status)
        class(storm_host), intent(in) :: self
        integer, intent(in) :: material, law
        integer, intent(out), optional :: status
        call done(self, c_set_scattering(self%object, &
            int(material - 1, c_int), int(law, c_int)), status)
    end subroutine

    subroutine set_electrons(self, material, per_g, status)
        class(storm_host), intent(in) :: self
        integer, intent(in) :: material
        real(c_double), intent(in) :: per_g
        integer, intent(out), optional :: status
        call done(self, c_set_electrons(self%object, &
            int(material - 1, c_int), per_g), status)
    end subroutine

    !> context: what the function gets as `self`.
    subroutine set_scatter(self, scatter, context, status)
        class(storm_host), intent(in) :: self
        procedure(storm_scatter) :: scatter
        type(c_ptr), intent(in), optional :: context
        integer, intent(out), optional :: status
        type(c_ptr) :: given
        given = c_null_ptr
        if (present(context)) given = context
        call done(self, c_set_scatter(self%object, c_funloc(scatter), given), &
            status)
    end subroutine

    subroutine set_start(self, material, density_g_cm3, kev, status)
        class(storm_host), intent(in) :: self
        integer, intent(in) :: material
        real(c_double), intent(in) :: density_g_cm3, kev
        integer, intent(out), optional :: status
        call done(self, c_set_start(self%object, int(material - 1, c_int), &
            density_g_cm3, kev), status)
    end subroutine

    subroutine set_wall(self, wall, kind, status)
        class(storm_host), intent(in) :: self
        integer, intent(in) :: wall, kind
        integer, intent(out), optional :: status
        call done(self, c_set_wall(self%object, int(wall - 1, c_int), &
            int(kind, c_int)), status)
    end subroutine

    !> Of one temperature at all times.
    subroutine set_blackbody_1(self, wall, kev, packets, status)
        class(storm_host), intent(in) :: self
        integer, intent(in) :: wall, packets
        real(c_double), intent(in) :: kev
        integer, intent(out), optional :: status
        call set_blackbody_n(self, wall, [0.0_c_double], [kev], packets, status)
    end subroutine

    !> As many temperatures as times.
    subroutine set_blackbody_n(self, wall, times_s, kev, packets, status)
        class(storm_host), intent(in) :: self
        integer, intent(in) :: wall, packets
        real(c_double), intent(in), contiguous :: times_s(:), kev(:)
        integer, intent(out), optional :: status
        if (size(times_s) == size(kev)) then
            call done(self, c_set_blackbody(self%object, &
                int(wall - 1, c_int), times_s, kev, &
                size(kev, kind=c_size_t), int(packets, c_int64_t)), status)
        else
            call refuse('set_blackbody: as many temperatures as times', status)
        end if
    end subroutine

    ! ---- stage 3 ----

    subroutine set_edges(self, axis, edges_cm, status)
        class(storm_host), intent(in) :: self
        integer, intent(in) :: axis
        real(c_double), intent(in), contiguous :: edges_cm(:)
        integer, intent(out), optional :: status
        call done(self, c_set_edges(self%object, int(axis - 1, c_int), &
            edges_cm, size(edges_cm, kind=c_size_t)), status)
    end subroutine

    !> The block of this rank: an array of it is (n(1), n(2), n(3)).
    subroutine mesh_cart(self, first, n, status)
        class(storm_host), intent(in) :: self
        integer, intent(in) :: first(3), n(3)
        integer, intent(out), optional :: status
        call done(self, c_mesh_cart(self%object, int(first - 1, c_int64_t), &
            int(n, c_int64_t)), status)
    end subroutine

    !> Of the points that come next.
    subroutine set_tags(self, tags, status)
        class(storm_host), intent(in) :: self
        integer(c_int64_t), intent(in), contiguous :: tags(:)
        integer, intent(out), optional :: status
        call done(self, c_set_tags(self%object, tags, &
            size(tags, kind=c_size_t)), status)
    end subroutine

    subroutine mesh_points(self, lo_cm, hi_cm, points_cm, status)
        class(storm_host), intent(in) :: self
        real(c_double), intent(in) :: lo_cm(3), hi_cm(3)
        real(c_double), intent(in), contiguous :: points_cm(:, :)
        integer, intent(out), optional :: status
        if (size(points_cm, 1) == 3) then
            call done(self, c_mesh_points(self%object, lo_cm, hi_cm, &
                points_cm, size(points_cm, 2, c_size_t)), status)
        else
            call refuse('mesh_points: expected an array (3, n)', status)
        end if
    end subroutine

    !> The arrays are used until mesh_given or replace: they need `target`.
    subroutine give_cells(self, tags, points_cm, volumes_cm3, centroids_cm, &
        status)
        class(storm_host), intent(in) :: self
        integer(c_int64_t), intent(in), contiguous, target :: tags(:)
        real(c_double), intent(in), contiguous, target :: points_cm(:, :), &
            volumes_cm3(:), centroids_cm(:, :)
        integer, intent(out), optional :: status
        integer :: n
        n = size(tags)
        if (size(points_cm) == 3 * n .and. size(volumes_cm3) == n .and. &
            size(centroids_cm) == 3 * n) then
            call done(self, c_give_cells(self%object, int(n, c_size_t), &
                c_loc(tags), c_loc(points_cm), c_loc(volumes_cm3), &
                c_loc(centroids_cm)), status)
        else
            call refuse('give_cells: lengths differ', status)
        end if
    end subroutine

    !> The same. Faces of cell i are first_face(i) to first_face(i + 1) - 1;
    !> behind a face is the tag of a cell, or minus the number of a boundary.
    subroutine give_faces(self, first_face, normals, on_planes_cm, areas_cm2, &
        behind, status)
        class(storm_host), intent(inout), target :: self
        integer, intent(in) :: first_face(:)
        real(c_double), intent(in), contiguous, target :: normals(:, :), &
            on_planes_cm(:, :), areas_cm2(:)
        integer(c_int64_t), intent(in), contiguous, target :: behind(:)
        integer, intent(out), optional :: status
        integer :: n
        n = size(behind)
        if (size(normals) /= 3 * n .or. size(on_planes_cm) /= 3 * n .or. &
            size(areas_cm2) /= n .or. size(first_face) == 0) then
            call refuse('give_faces: lengths differ', status)
            return
        end if
        if (first_face(size(first_face)) /= n + 1) then
            call refuse('give_faces: first_face and behind differ', status)
            return
        end if
        self%first_face = int(first_face - 1, c_int64_t)
        call done(self, c_give_faces(self%object, c_loc(self%first_face), &
            c_loc(normals), c_loc(on_planes_cm), c_loc(areas_cm2), &
            c_loc(behind)), status)
    end subroutine

    subroutine mesh_given(self, n_boundaries, status)
        class(storm_host), intent(in) :: self
        integer, intent(in) :: n_boundaries
        integer, intent(out), optional :: status
        call done(self, c_mesh_given(self%object, int(n_boundaries, c_int)), &
            status)
    end subroutine

    subroutine begin(self, status)
        class(storm_host), intent(in) :: self
        integer, intent(out), optional :: status
        call done(self, c_begin(self%object), status)
    end subroutine

    ! ---- stage 5 ----

    integer function n_cells(self)
        class(storm_host), intent(in) :: self
        n_cells = int(c_n_cells(self%object))
    end function

    integer function n_values(self, field)
        class(storm_host), intent(in) :: self
        integer, intent(in) :: field
        n_values = int(c_n_values(self%object, int(field, c_int)))
    end function

    subroutine get_tags(self, tags, status)
        class(storm_host), intent(in) :: self
        integer(c_int64_t), intent(inout), contiguous :: tags(:)
        integer, intent(out), optional :: status
        call done(self, c_get_tags(self%object, tags, &
            size(tags, kind=c_size_t)), status)
    end subroutine

    subroutine request(self, field, status)
        class(storm_host), intent(in) :: self
        integer, intent(in) :: field
        integer, intent(out), optional :: status
        call done(self, c_request(self%object, int(field, c_int)), status)
    end subroutine

    !> Numbers of materials count from 1 here.
    subroutine set_1(self, field, numbers, status)
        class(storm_host), intent(in) :: self
        integer, intent(in) :: field
        real(c_double), intent(in), contiguous :: numbers(:)
        integer, intent(out), optional :: status
        integer(c_int) :: code
        if (field == STORM_HOST_MATERIAL) then
            code = c_set(self%object, int(field, c_int), numbers - 1, &
                size(numbers, kind=c_size_t))
        else
            code = c_set(self%object, int(field, c_int), numbers, &
                size(numbers, kind=c_size_t))
        end if
        call done(self, code, status)
    end subroutine

    subroutine set_2(self, field, numbers, status)
        class(storm_host), intent(in) :: self
        integer, intent(in) :: field
        real(c_double), intent(in), contiguous :: numbers(:, :)
        integer, intent(out), optional :: status
        if (field == STORM_HOST_MATERIAL) then
            call set_1(self, field, reshape(numbers, [size(numbers)]), status)
        else
            call done(self, c_set(self%object, int(field, c_int), numbers, &
                size(numbers, kind=c_size_t)), status)
        end if
    end subroutine

    subroutine get_1(self, field, numbers, status)
        class(storm_host), intent(in) :: self
        integer, intent(in) :: field
        real(c_double), intent(inout), contiguous :: numbers(:)
        integer, intent(out), optional :: status
        integer(c_int) :: code
        code = c_get(self%object, int(field, c_int), numbers, &
            size(numbers, kind=c_size_t))
        if (code >= 0 .and. field == STORM_HOST_MATERIAL) numbers = numbers + 1
        call done(self, code, status)
    end subroutine

    subroutine get_2(self, field, numbers, status)
        class(storm_host), intent(in) :: self
        integer, intent(in) :: field
        real(c_double), intent(inout), contiguous :: numbers(:, :)
        integer, intent(out), optional :: status
        integer(c_int) :: code
        code = c_get(self%object, int(field, c_int), numbers, &
            size(numbers, kind=c_size_t))
        if (code >= 0 .and. field == STORM_HOST_MATERIAL) numbers = numbers + 1
        call done(self, code, status)
    end subroutine

    subroutine add_heat(self, erg, status)
        class(storm_host), intent(in) :: self
        real(c_double), intent(in), contiguous :: erg(:)
        integer, intent(out), optional :: status
        call done(self, c_add_heat(self%object, erg, &
            size(erg, kind=c_size_t)), status)
    end subroutine

    subroutine declare_work(self, erg, status)
        class(storm_host), intent(in) :: self
        real(c_double), intent(in), contiguous :: erg(:)
        integer, intent(out), optional :: status
        call done(self, c_declare_work(self%object, erg, &
            size(erg, kind=c_size_t)), status)
    end subroutine

    subroutine step(self, time_s, dt_s, status)
        class(storm_host), intent(in) :: self
        real(c_double), intent(in) :: time_s, dt_s
        integer, intent(out), optional :: status
        call done(self, c_step(self%object, time_s, dt_s), status)
    end subroutine

    !> For relative changes of about `change` in the next step.
    subroutine next_dt(self, change, dt_s, status)
        class(storm_host), intent(in) :: self
        real(c_double), intent(in) :: change
        real(c_double), intent(out) :: dt_s
        integer, intent(out), optional :: status
        dt_s = 0
        call done(self, c_next_dt(self%object, change, dt_s), status)
    end subroutine

    subroutine energy(self, erg, status)
        class(storm_host), intent(in) :: self
        real(c_double), intent(out) :: erg(STORM_HOST_N_ENERGIES)
        integer, intent(out), optional :: status
        erg = 0
        call done(self, c_energy(self%object, erg, &
            int(STORM_HOST_N_ENERGIES, c_size_t)), status)
    end subroutine

    subroutine momentum(self, momenta, status)
        class(storm_host), intent(in) :: self
        real(c_double), intent(out) :: momenta(STORM_HOST_N_MOMENTA)
        integer, intent(out), optional :: status
        momenta = 0
        call done(self, c_momentum(self%object, momenta, &
            int(STORM_HOST_N_MOMENTA, c_size_t)), status)
    end subroutine

    !> The bits of an unsigned number: storm_host_hex makes text of them.
    subroutine hash(self, bits, status)
        class(storm_host), intent(in) :: self
        integer(c_int64_t), intent(out) :: bits
        integer, intent(out), optional :: status
        bits = 0
        call done(self, c_hash(self%object, bits), status)
    end subroutine

    subroutine move(self, points_cm, status)
        class(storm_host), intent(in) :: self
        real(c_double), intent(in), contiguous :: points_cm(:, :)
        integer, intent(out), optional :: status
        call done(self, c_move(self%object, points_cm, &
            size(points_cm, kind=c_size_t)), status)
    end subroutine

    subroutine replace(self, status)
        class(storm_host), intent(in) :: self
        integer, intent(out), optional :: status
        call done(self, c_replace(self%object), status)
    end subroutine

    subroutine repartition(self, status)
        class(storm_host), intent(in) :: self
        integer, intent(out), optional :: status
        call done(self, c_repartition(self%object), status)
    end subroutine

    !> The piece of this rank.
    subroutine save_state(self, bytes, status)
        class(storm_host), intent(in) :: self
        integer(c_int8_t), allocatable, intent(out) :: bytes(:)
        integer, intent(out), optional :: status
        integer(c_size_t) :: n
        integer(c_int) :: code
        n = 0
        code = c_state_bytes(self%object, n)
        allocate (bytes(n))
        if (code >= 0) code = c_save(self%object, bytes, n)
        call done(self, code, status)
    end subroutine

    !> All pieces that this rank has.
    subroutine load_state(self, bytes, status)
        class(storm_host), intent(in) :: self
        integer(c_int8_t), intent(in), contiguous :: bytes(:)
        integer, intent(out), optional :: status
        call done(self, c_load(self%object, bytes, &
            size(bytes, kind=c_size_t)), status)
    end subroutine

    ! ---- what is beneath ----

    type(c_ptr) function context(self)
        class(storm_host), intent(in) :: self
        context = c_context(self%object)
    end function

    type(c_ptr) function mesh(self)
        class(storm_host), intent(in) :: self
        mesh = c_mesh(self%object)
    end function

    type(c_ptr) function imc(self)
        class(storm_host), intent(in) :: self
        imc = c_imc(self%object)
    end function

    type(c_ptr) function engine(self)
        class(storm_host), intent(in) :: self
        engine = c_engine(self%object)
    end function
end module
