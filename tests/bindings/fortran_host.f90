! SPDX-License-Identifier: BSD-3-Clause
!
! The module storm, on any number of ranks (fortran.sh): numbers of fields are
! those of the library, numbers count from 1, errors are statuses; scattering by
! a function, and a restart from its state.
module fortran_scatter
    use, intrinsic :: iso_c_binding
    use storm, only: storm_host_random
    implicit none
contains
    !> Back, or not at all.
    function turn(self, material, tag, matter, photon, draws) bind(c) &
        result(answer)
        type(c_ptr), value :: self, draws
        integer(c_int), value :: material
        integer(c_int64_t), value :: tag
        real(c_double), intent(in) :: matter(2)
        real(c_double), intent(inout) :: photon(5)
        integer(c_int) :: answer
        integer(c_int), pointer :: calls
        real(c_double) :: uniform(4)
        call c_f_pointer(self, calls)
        calls = calls + 1
        call storm_host_random(draws, uniform)
        answer = 0
        if (material /= 0 .or. tag < 0 .or. matter(1) <= 0) answer = -1
        if (uniform(1) < 0.5_c_double .and. answer == 0) then
            photon(1:3) = -photon(1:3)
            answer = 1
        end if
    end function
end module

program fortran_host
    use, intrinsic :: iso_c_binding, only: dp => c_double, long => c_int64_t, &
        c_int, c_int8_t, c_loc, c_associated, c_ptr
    use, intrinsic :: iso_fortran_env, only: error_unit
    use mpi
    use storm
    use fortran_scatter
    implicit none
    integer :: ierr
    call MPI_Init(ierr)
    call names
    call grid
    call points
    call given
    call restart
    call parameters
    call MPI_Finalize(ierr)
contains
    subroutine check(is_so, what)
        logical, intent(in) :: is_so
        character(len=*), intent(in) :: what
        if (is_so) return
        write (error_unit, '(2a)') 'fortran_host.f90: ', what
        call MPI_Abort(MPI_COMM_WORLD, 1, ierr)
    end subroutine

    subroutine names
        call one(STORM_HOST_TEMPERATURE, 'temperature')
        call one(STORM_HOST_HEAT, 'heat')
        call one(STORM_HOST_DENSITY, 'density')
        call one(STORM_HOST_MATERIAL, 'material')
        call one(STORM_HOST_EMISSION, 'emission')
        call one(STORM_HOST_VELOCITY, 'velocity')
        call one(STORM_HOST_RADIATION_START, 'radiation_start')
        call one(STORM_HOST_ABSORPTION, 'absorption')
        call one(STORM_HOST_SCATTERING, 'scattering')
        call one(STORM_HOST_HEAT_CAPACITY, 'heat_capacity')
        call one(STORM_HOST_FRAME, 'frame')
        call one(STORM_HOST_RADIATION, 'radiation')
        call one(STORM_HOST_CENSUS, 'census')
        call one(STORM_HOST_ABSORBED, 'absorbed')
        call one(STORM_HOST_EMITTED, 'emitted')
        call one(STORM_HOST_PUSH, 'push')
        call one(STORM_HOST_FLUX, 'flux')
        call one(STORM_HOST_PRESSURE, 'pressure')
        call one(STORM_HOST_GROUPS, 'groups')
        call one(STORM_HOST_VOLUME, 'volume')
        call one(STORM_HOST_CENTRE, 'centre')
        call check(storm_host_field_name(-1) == '', 'no field')
        call check(storm_host_hex(-2_long) == 'fffffffffffffffe', 'hex')
    end subroutine

    subroutine one(field, name)
        integer, intent(in) :: field
        character(len=*), intent(in) :: name
        call check(storm_host_field_name(field) == name, name)
    end subroutine

    subroutine describe(host)
        type(storm_host), intent(inout) :: host
        integer :: gas, rock
        call host%create(MPI_COMM_WORLD, 'transport.backend=p2p')
        call host%set_quiet(.true.)
        call host%set_parameter('seed', 5)
        call host%set_parameter('max_per_cell', 20.0_dp)
        call host%add_material('gas', gas)
        call host%add_material('rock', rock)
        call check(gas == 1 .and. rock == 2, 'numbers of materials')
        call host%set_law(gas, STORM_HOST_LAW_ABSORPTION, [1.0_dp])
        call host%set_law(gas, STORM_HOST_LAW_HEAT, [1e15_dp])
        call host%set_by_cell(rock, STORM_HOST_LAW_ABSORPTION, 3.0_dp)
        call host%set_start(gas, 1.0_dp, 0.2_dp)
        call host%set_wall(2, STORM_WALL_REFLECT)
        call host%set_blackbody(1, 0.5_dp, 50)
    end subroutine

    ! A block of rank 0 alone.
    subroutine grid
        type(storm_host) :: host
        integer, parameter :: n = 4
        integer :: status, k, mine
        real(dp) :: e(STORM_HOST_N_ENERGIES), m(STORM_HOST_N_MOMENTA)
        real(dp), allocatable :: rho(:), centre(:, :), material(:)
        integer(long) :: hash
        call describe(host)
        call host%set_parameter('sead', 1, status)
        call check(status == STORM_ERR_ARG, 'sead')
        call check(index(host%problem(), 'did you mean seed?') > 0, 'text')
        call host%set_law(3, STORM_HOST_LAW_HEAT, [1.0_dp], status)
        call check(status == STORM_ERR_ARG, 'material 3')
        call host%set_edges(4, [0.0_dp, 1.0_dp], status)
        call check(status == STORM_ERR_ARG, 'direction 4')
        call host%set_blackbody(1, [0.0_dp], [0.5_dp, 1.0_dp], 50, status)
        call check(status == STORM_ERR_ARG, 'times')
        call host%set_edges(1, [(0.1_dp * k, k = 0, n)])
        mine = merge(n, 0, host%rank() == 0)
        call host%mesh_cart([0, 1, 1], [1, 1, 1], status)
        call check(status < 0, 'cell 0')
        call host%mesh_cart([1, 1, 1], [mine, 1, 1])
        call host%begin
        call check(host%n_cells() == mine, 'cells')
        call check(host%n_values(STORM_HOST_CENTRE) == 3, 'values')
        allocate (rho(mine), centre(3, mine), material(mine))
        rho = [(real(k, dp), k = 1, mine)]
        call host%set(STORM_HOST_DENSITY, rho)
        material = merge(1, 2, rho < 3)
        call host%set(STORM_HOST_MATERIAL, material)
        call host%get(STORM_HOST_MATERIAL, material)
        call check(all(nint(material) == merge(1, 2, rho < 3)), 'materials')
        call host%get(STORM_HOST_CENTRE, centre)
        call check(all(abs(centre(1, :) - (0.1_dp * rho - 0.05_dp)) < 1e-12), &
            'centres')
        call host%get(STORM_HOST_CENTRE, rho, status)
        call check(status < 0, 'too short')
        call host%request(STORM_HOST_FLUX)
        call host%step(0.0_dp, 1e-11_dp)
        call host%get(STORM_HOST_FLUX, centre)
        call host%declare_work(rho)
        call host%add_heat(0 * rho)
        call host%repartition
        call host%energy(e)
        call check(e(STORM_HOST_E_ERROR) < 1e-13_dp, 'balance')
        call check(e(STORM_HOST_E_WALLS) > 0, 'walls')
        call check(abs(e(STORM_HOST_E_DECLARED) - 10) < 1e-12, 'declared')
        call host%momentum(m, status)
        call check(status == STORM_ERR_ARG, 'motion')
        call host%hash(hash)
        call check(hash /= 0, 'hash')
        call host%destroy
        call host%destroy
    end subroutine

    subroutine points
        type(storm_host) :: host
        real(dp), allocatable :: x(:, :)
        integer :: k, n, status
        call describe(host)
        n = merge(5, 0, host%rank() == host%size() - 1)
        allocate (x(3, n))
        do k = 1, n
            x(:, k) = [0.15_dp * k, 0.1_dp * k, 0.9_dp - 0.1_dp * k]
        end do
        call host%mesh_points([0.0_dp, 0.0_dp, 0.0_dp], &
            [1.0_dp, 1.0_dp, 1.0_dp], x(1:2, :), status)
        call check(status == STORM_ERR_ARG, 'two coordinates')
        call host%mesh_points([0.0_dp, 0.0_dp, 0.0_dp], &
            [1.0_dp, 1.0_dp, 1.0_dp], x)
        call host%begin
        call host%step(0.0_dp, 1e-11_dp)
        call host%move(0.99_dp * x)
        call host%step(1e-11_dp, 1e-11_dp)
        call host%destroy
    end subroutine

    subroutine open_scattering(host, calls, tags)
        type(storm_host), intent(inout) :: host
        integer(c_int), target, intent(inout) :: calls
        integer(long), intent(in) :: tags(:)
        real(dp) :: x(3, 4)
        integer :: gas, k
        call host%create(MPI_COMM_WORLD)
        call host%add_material('gas', gas)
        call host%set_law(gas, STORM_HOST_LAW_SCATTERING, [5.0_dp])
        call host%set_law(gas, STORM_HOST_LAW_ABSORPTION, [1.0_dp])
        call host%set_law(gas, STORM_HOST_LAW_HEAT, [1e15_dp])
        call host%set_scattering(gas, STORM_SCATTER_USER)
        call host%set_electrons(gas, 1e20_dp)
        call host%set_scatter(turn, c_loc(calls))
        call host%set_start(gas, 1.0_dp, 0.3_dp)
        call host%set_groups([0.01_dp, 1.0_dp, 10.0_dp])
        do k = 1, 4
            x(:, k) = [0.2_dp * k, 0.1_dp + 0.2_dp * host%rank() + 0.01_dp * k, &
                0.5_dp]
        end do
        if (size(tags) > 0) call host%set_tags(tags)
        call host%mesh_points([0.0_dp, 0.0_dp, 0.0_dp], &
            [1.0_dp, 1.0_dp, 1.0_dp], x)
        call host%begin
    end subroutine

    subroutine restart
        type(storm_host) :: host, again
        integer(c_int), target :: calls
        integer(c_int8_t), allocatable :: bytes(:)
        integer(long) :: tags(4), hash, other
        integer :: status, ranks
        real(dp) :: dt
        type(c_ptr) :: beneath(4)
        calls = 0
        call open_scattering(host, calls, tags(:0))
        call host%get_tags(tags)
        call host%step(0.0_dp, 1e-11_dp)
        ranks = host%size()
        call check(calls > 0 .or. ranks > 1, 'collisions')
        call host%next_dt(0.1_dp, dt)
        call check(dt > 0, 'next dt')
        call host%save(bytes)
        call host%step(1e-11_dp, 1e-11_dp)
        call host%hash(hash)
        call open_scattering(again, calls, tags)
        call again%set_quiet(.true.)
        call again%load(bytes(2:), status)
        call check(status < 0, 'bytes')
        call again%load(bytes)
        call again%step(1e-11_dp, 1e-11_dp)
        call again%hash(other)
        call check(hash == other, 'hash of a restart')
        beneath = [again%context(), again%mesh(), again%imc(), again%engine()]
        call check(c_associated(beneath(1)) .and. c_associated(beneath(2)), &
            'context and mesh')
        call check(c_associated(beneath(3)) .and. c_associated(beneath(4)), &
            'imc and engine')
        call again%destroy
        call host%destroy
    end subroutine

    subroutine parameters
        character(len=:), allocatable :: name, help
        real(dp) :: default
        call storm_host_parameter(1, name, default, help)
        call check(name == 'seed' .and. abs(default - 1) < 1e-14 .and. &
            len(help) > 0, 'parameter 1')
        call storm_host_parameter(1000, name, default, help)
        call check(name == '', 'no parameter')
    end subroutine

    ! Two cubes side by side, of the first rank.
    subroutine given
        type(storm_host) :: host
        integer(long), target :: tags(2), behind(12)
        real(dp), target :: centre(3, 2), volume(2), normal(3, 12), on(3, 12), &
            area(12)
        integer :: c, f, d, n, status
        call describe(host)
        tags = [10_long, 20_long]
        volume = 1
        area = 1
        normal = 0
        behind = -3
        do c = 1, 2
            centre(:, c) = [c - 0.5_dp, 0.5_dp, 0.5_dp]
            do f = 1, 6
                d = (f + 1) / 2
                n = 6 * (c - 1) + f
                normal(d, n) = merge(-1, 1, mod(f, 2) == 1)
                on(:, n) = centre(:, c) + 0.5_dp * normal(:, n)
            end do
        end do
        behind(1) = -1 ! the first boundary
        behind(2) = tags(2)
        behind(7) = tags(1)
        behind(8) = -2
        n = merge(2, 0, host%rank() == 0)
        call host%give_cells(tags(:n), centre(:, :n), volume(:1), &
            centre(:, :n), status)
        call check(status == STORM_ERR_ARG, 'lengths of cells')
        call host%give_cells(tags(:n), centre(:, :n), volume(:n), &
            centre(:, :n))
        call host%give_faces([(1 + 6 * c, c = 0, n)], normal(:, :6 * n), &
            on(:, :6 * n), area(:6 * n), behind(:6 * n))
        call host%mesh_given(3)
        call host%begin
        call host%step(0.0_dp, 1e-11_dp)
        call host%give_cells(tags(:n), centre(:, :n), volume(:n), &
            centre(:, :n))
        call host%give_faces([(1 + 6 * c, c = 0, n)], normal(:, :6 * n), &
            on(:, :6 * n), area(:6 * n), behind(:6 * n))
        call host%replace
        call host%get(STORM_HOST_VOLUME, volume(:n))
        call check(all(abs(volume - 1) < 1e-14), 'volumes')
        call host%destroy
    end subroutine
end program
