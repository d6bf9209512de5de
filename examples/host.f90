! SPDX-License-Identifier: BSD-3-Clause
!
! host.c in Fortran: a hydrodynamics code with matter of its own.
!
!   mpif90 host.f90 $(pkg-config --cflags --libs storm-fortran)
!   mpiexec -n 3 ./a.out
!
! The same numbers are added and multiplied in the same order, so the hash is
! that of host.c, host.cc and host.py (with -ffp-contract=off where the processor
! has a fused multiply-add).
module gas
    use, intrinsic :: iso_c_binding, only: dp => c_double
    implicit none
    integer, parameter :: n_x = 16, n_y = 4, n_steps = 20
    real(dp), parameter :: dx = 0.05_dp, dt = 1e-10_dp        ! cm, s
    real(dp), parameter :: heat = 1e15_dp, speed = 5e7_dp     ! erg/g/keV, cm/s
    real(dp), parameter :: volume = (0.05_dp * 0.05_dp) * 0.05_dp
    real(dp), parameter :: gamma_1 = 2.0_dp / 3.0_dp          ! of the gas, less 1

    ! Rows of the grid that this rank has, per cm3.
    real(dp), allocatable :: rho(:, :), mom(:, :), ene(:, :)
contains
    subroutine begin_gas(first_row, n_rows)
        integer, intent(in) :: first_row, n_rows
        integer :: i, j
        allocate (rho(n_x, n_rows), mom(n_x, n_rows), ene(n_x, n_rows))
        do j = 1, n_rows
            rho(:, j) = merge(10.0_dp, 13.0_dp, first_row + j - 1 <= n_y / 2)
            do i = 1, n_x
                mom(i, j) = merge(rho(i, j) * speed, -(rho(i, j) * speed), &
                    i <= n_x / 2)
            end do
        end do
        ene = heat * rho * 0.3_dp + motion(rho, mom)
    end subroutine

    elemental real(dp) function motion(density, momentum)
        real(dp), intent(in) :: density, momentum
        motion = 0.5_dp * (momentum * momentum / density)
    end function

    ! A state beside a face, what it carries towards +x, and the speed of its
    ! waves. Cell k of a row; beyond the ends there is a mirror.
    subroutine side(k, j, u, flow, wave)
        integer, intent(in) :: k, j
        real(dp), intent(out) :: u(3), flow(3), wave
        integer :: i
        real(dp) :: m, v, p
        i = min(max(k, 1), n_x)
        m = merge(mom(i, j), -mom(i, j), i == k)
        v = m / rho(i, j)
        p = gamma_1 * (ene(i, j) - motion(rho(i, j), mom(i, j)))
        u = [rho(i, j), m, ene(i, j)]
        flow = [m, m * v + p, (ene(i, j) + p) * v]
        wave = abs(v) + sqrt((gamma_1 + 1.0_dp) * p / rho(i, j))
    end subroutine

    ! Rusanov's flux through the faces of each row.
    subroutine move_gas
        real(dp) :: flux(3, 0:n_x), u(3, 2), flow(3, 2), wave(2)
        integer :: j, k
        do j = 1, size(rho, 2)
            do k = 0, n_x
                call side(k, j, u(:, 1), flow(:, 1), wave(1))
                call side(k + 1, j, u(:, 2), flow(:, 2), wave(2))
                flux(:, k) = 0.5_dp * ((flow(:, 1) + flow(:, 2)) - &
                    max(wave(1), wave(2)) * (u(:, 2) - u(:, 1)))
            end do
            rho(:, j) = rho(:, j) - (dt / dx) * (flux(1, 1:) - flux(1, :n_x - 1))
            mom(:, j) = mom(:, j) - (dt / dx) * (flux(2, 1:) - flux(2, :n_x - 1))
            ene(:, j) = ene(:, j) - (dt / dx) * (flux(3, 1:) - flux(3, :n_x - 1))
        end do
    end subroutine
end module

program host_f90
    use, intrinsic :: iso_c_binding, only: c_int64_t
    use mpi
    use gas
    use storm
    implicit none
    type(storm_host) :: host
    integer :: i, ierr
    integer(c_int64_t) :: bits
    real(dp) :: start, error(2)

    call MPI_Init(ierr)
    call host%create(MPI_COMM_WORLD)
    call describe
    call give
    error = 0
    do i = 1, n_steps
        call one_step(i)
        call report(i)
    end do
    call host%hash(bits)
    if (host%rank() == 0) then
        print '(a, es8.1, a, es8.1)', 'energy closes to', error(1), &
            ', the host''s work to', error(2)
        print '(2a)', 'hash ', storm_host_hex(bits)
    end if
    call host%destroy
    call MPI_Finalize(ierr)
    if (any(error > 1e-13_dp)) error stop 1

contains
    ! What there is: a grid of which each rank gives its rows, a gas, mirrors.
    subroutine describe
        integer :: number, wall, first, n, k
        call host%set_parameter('emit_per_cell', 50)
        call host%set_parameter('max_per_cell', 200)
        call host%add_material('gas', number)
        call host%set_law(number, STORM_HOST_LAW_HEAT, [heat, 0.0_dp, 1.0_dp])
        call host%set_law(number, STORM_HOST_LAW_SCATTERING, &
            [0.1_dp, 0.0_dp, 1.0_dp])
        call host%set_by_cell(number, STORM_HOST_LAW_ABSORPTION, 0.0_dp)
        do wall = 1, 6
            call host%set_wall(wall, STORM_WALL_REFLECT)
        end do
        call host%set_edges(1, [(dx * k, k = 0, n_x)])
        call host%set_edges(2, [(dx * k, k = 0, n_y)])
        call host%set_edges(3, [0.0_dp, 0.05_dp])
        first = n_y * host%rank() / host%size()
        n = n_y * (host%rank() + 1) / host%size() - first
        call host%mesh_cart([1, first + 1, 1], [n_x, n, 1])
        call host%begin
        call host%request(STORM_HOST_PUSH)
        call begin_gas(first + 1, n)
    end subroutine

    ! Density, heat and opacity to the library.
    subroutine give
        real(dp) :: q(n_x, size(rho, 2)), t(n_x, size(rho, 2))
        q = ene - motion(rho, mom)
        t = q / (heat * rho)
        call host%set(STORM_HOST_DENSITY, rho)
        call host%set(STORM_HOST_HEAT, q)
        call host%set(STORM_HOST_ABSORPTION, &
            0.2_dp * rho * rho / (0.2_dp + t * sqrt(t)))
    end subroutine

    ! A step of radiation, and then one of the gas with the heat that is left
    ! and the push. What becomes of the heat then is the host's own work.
    subroutine one_step(number)
        integer, intent(in) :: number
        real(dp) :: q(n_x, size(rho, 2)), push(3, size(rho)), work(size(rho))
        call host%step((number - 1) * dt, dt)
        call host%get(STORM_HOST_HEAT, q)
        call host%get(STORM_HOST_PUSH, push)
        ene = q + motion(rho, mom)
        mom = mom + reshape(push(1, :), shape(mom)) / volume
        call move_gas
        work = reshape(((ene - motion(rho, mom)) - q) * volume, [size(q)])
        call host%declare_work(work)
        call give
    end subroutine

    subroutine report(number)
        integer, intent(in) :: number
        real(dp) :: e(STORM_HOST_N_ENERGIES), total, mine, all
        mine = sum(motion(rho, mom) * volume)
        call MPI_Allreduce(mine, all, 1, MPI_DOUBLE_PRECISION, MPI_SUM, &
            MPI_COMM_WORLD, ierr)
        call host%energy(e)
        total = e(STORM_HOST_E_MATTER) + e(STORM_HOST_E_RADIATION) + all
        if (number == 1) start = total
        error(1) = max(error(1), abs(total - start) / start, &
            e(STORM_HOST_E_ERROR))
        error(2) = max(error(2), abs(e(STORM_HOST_E_HOST) - &
            e(STORM_HOST_E_DECLARED)) / start)
        if (host%rank() == 0) &
            print '(i3, a, es13.6, a, es13.6, a, es13.6, a, es16.9, a)', &
            number, '  heat ', e(STORM_HOST_E_MATTER), '  motion ', all, &
            '  radiation ', e(STORM_HOST_E_RADIATION), '  total ', total, ' erg'
    end subroutine
end program
