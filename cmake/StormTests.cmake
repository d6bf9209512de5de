# SPDX-License-Identifier: BSD-3-Clause
#
# Tests carry their plan in their first comment:
#
#   /* TEST ranks: 1 2 3 5; backend: shm p2p; timeout: 20 */
#
#   ranks     how many; one test for each. 0, the default: without mpiexec
#   backend   STORM_BACKEND for the test, without shared memory unless that is
#             the backend; one test for each. ofi-tcp, ofi-shm and ofi-sockets
#             are ofi over that provider. `networks`: those of this build that
#             need no device (TESTS in cmake/StormFabrics.cmake). `none`, the
#             default: not set
#   timeout   seconds, default 20, about ten times what the test takes on an idle
#             core. It gets five times as long, with sanitizers ten times: limits
#             end what hangs, and do not fail what waits for other programs
#   env       A=1 B=2; @build@ is the folder of the build
#   args      arguments of the program
#   label     CTest labels: tsan, long, slow-asan, slow-mpich, ...
#
# A plan ends with its line, unless that ends with `;`. A file may have several.
# The test is called <folder>/<file>@<ranks>,<backend>; a second one with the
# same name gets ~2. Labels `mpi` (ranks > 0) and the folder's name are added, and
# `core` for one number of ranks of each plan: 3, or the one next to it.
# Scripts (*.sh) do the same behind `# TEST`; they run without mpiexec, and find
# STORM_RANKS, STORM_BIN, STORM_MPIEXEC and STORM_BUILD in the environment.

set(storm_provider_tcp "tcp\\\\;ofi_rxm")
set(storm_provider_shm shm)
set(storm_provider_sockets sockets)
set(storm_plan_fields ranks backend timeout env args label)

# More ranks than cores, root in a container, several jobs at once on the same
# cores: allowed, unbound and yielding, with either MPI.
set(storm_test_env
    OMPI_ALLOW_RUN_AS_ROOT=1
    OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
    OMPI_MCA_rmaps_base_oversubscribe=1
    OMPI_MCA_hwloc_base_binding_policy=none
    OMPI_MCA_mpi_yield_when_idle=1
    OMPI_MCA_btl_base_warn_component_unused=0
    OMPI_MCA_btl_vader_single_copy_mechanism=none
    PMIX_MCA_gds=hash
    PRTE_ALLOW_RUN_AS_ROOT=1
    PRTE_ALLOW_RUN_AS_ROOT_CONFIRM=1
    PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe
    UCX_LOG_LEVEL=error
    UCX_MEM_MMAP_HOOK_MODE=none)
# MPICH over UCX has no setting for that: a library that is loaded before it
# (tests/yield). The sanitizers of gcc are libraries that must be loaded first.
set(STORM_TEST_YIELD OFF)
if(STORM_MPI_FLAVOUR STREQUAL "mpich" AND
   NOT (STORM_SANITIZE AND CMAKE_C_COMPILER_ID STREQUAL "GNU"))
    set(STORM_TEST_YIELD ON)
    list(APPEND storm_test_env LD_PRELOAD=$<TARGET_FILE:storm_test_yield>)
endif()
set(storm_timeout_scale 5)
if(STORM_SANITIZE)
    set(storm_timeout_scale 10)
endif()

add_custom_target(tests)
add_custom_target(tests-tsan)

# A fault in a test file: fatal where warnings are, a warning for others.
function(storm_test_complain text)
    if(STORM_WERROR)
        message(FATAL_ERROR "${text}")
    endif()
    message(WARNING "${text}")
endfunction()

# The plans in the head of a file, as plan_0 .. plan_<n-1> and plan_n.
function(storm_read_plans path)
    file(READ ${path} text LIMIT 8192)
    set(n 0)
    set(plan "")
    set(in_plan OFF)
    while(text MATCHES "^([^\n]*)\n")
        set(line "${CMAKE_MATCH_1}")
        string(LENGTH "${line}" length)
        math(EXPR length "${length} + 1")
        string(SUBSTRING "${text}" ${length} -1 text)
        if(in_plan)
            string(REGEX REPLACE "^[ \t*#]+" "" line "${line}")
            set(plan "${plan} ${line}")
        elseif(line MATCHES "^[ \t]*(/\\*|\\*|#)[ \t]*TEST([ \t].*)?$")
            set(plan "${CMAKE_MATCH_2}")
            set(in_plan ON)
        elseif(line MATCHES "^[ \t]*#[ \t]*include|^[a-z{]")
            break() # code: the head ends here
        endif()
        if(in_plan)
            string(REGEX REPLACE "\\*/[ \t]*$" "" plan "${plan}")
            string(STRIP "${plan}" plan)
            if(NOT plan MATCHES ";$")
                set(plan_${n} "${plan}" PARENT_SCOPE)
                math(EXPR n "${n} + 1")
                set(in_plan OFF)
            endif()
        endif()
    endwhile()
    set(plan_n ${n} PARENT_SCOPE)
endfunction()

# Split a plan into field_<name> lists.
function(storm_parse_plan path plan)
    set(field_ranks 0)
    set(field_backend none)
    set(field_timeout 20)
    set(field_env "")
    set(field_args "")
    set(field_label "")
    foreach(item IN LISTS plan)
        string(STRIP "${item}" item)
        if(item STREQUAL "")
            continue()
        endif()
        if(NOT item MATCHES "^([a-z]+)[ \t]*:[ \t]*(.*)$")
            message(FATAL_ERROR
                    "${path}: TEST: `${item}` is not `field: value`")
        endif()
        set(name "${CMAKE_MATCH_1}")
        set(value "${CMAKE_MATCH_2}")
        if(NOT name IN_LIST storm_plan_fields)
            message(FATAL_ERROR "${path}: TEST: unknown field `${name}` "
                                "(known: ${storm_plan_fields})")
        endif()
        separate_arguments(value UNIX_COMMAND "${value}")
        set(field_${name} "${value}")
    endforeach()
    if("networks" IN_LIST field_backend)
        list(REMOVE_ITEM field_backend networks)
        list(APPEND field_backend ${storm_fabric_tests})
    endif()
    foreach(name IN LISTS storm_fabric_left_out)
        list(FILTER field_backend EXCLUDE REGEX "^${name}(-|$)")
    endforeach()
    foreach(number IN LISTS field_ranks field_timeout)
        if(NOT number MATCHES "^[0-9]+$")
            message(FATAL_ERROR "${path}: TEST: `${number}` is not a number")
        endif()
    endforeach()
    foreach(name IN LISTS storm_plan_fields)
        set(field_${name} "${field_${name}}" PARENT_SCOPE)
    endforeach()
endfunction()

# Register one test. Uses field_timeout, field_env and field_args of the caller.
function(storm_register name ranks backend labels command is_script)
    set(env ${storm_test_env})
    if(backend STREQUAL "none")
        set(suffix "${ranks},none")
    elseif(backend MATCHES "^ofi-(.*)$")
        set(suffix "${ranks},${backend}")
        list(APPEND env STORM_BACKEND=ofi STORM_SHM=no
             STORM_PROVIDER=${storm_provider_${CMAKE_MATCH_1}})
    else()
        set(suffix "${ranks},${backend}")
        list(APPEND env STORM_BACKEND=${backend})
        if(NOT backend MATCHES "^(auto|shm)$")
            list(APPEND env STORM_SHM=no)
        endif()
    endif()
    string(REPLACE "@build@" "${PROJECT_BINARY_DIR}" field_env "${field_env}")
    set(full "${name}@${suffix}")
    set(twin 1)
    while(TEST ${full})
        math(EXPR twin "${twin} + 1")
        set(full "${name}@${suffix}~${twin}")
    endwhile()

    # Open MPI keeps a folder for the jobs of a user, which the last job removes:
    # at times while another begins, which then fails. So one for each test.
    string(MD5 hash ${full})
    string(SUBSTRING ${hash} 0 8 hash)
    list(APPEND env
         OMPI_MCA_orte_tmpdir_base=${PROJECT_BINARY_DIR}/sessions/${hash})

    set(launch "")
    if(ranks GREATER 0 AND NOT is_script)
        set(launch ${MPIEXEC_EXECUTABLE} ${MPIEXEC_NUMPROC_FLAG} ${ranks})
    endif()
    if(is_script)
        list(APPEND env
             STORM_RANKS=${ranks}
             STORM_BIN=${PROJECT_BINARY_DIR}/storm
             STORM_MPIEXEC=${MPIEXEC_EXECUTABLE}
             STORM_BUILD=${PROJECT_BINARY_DIR})
    endif()

    # mpiexec ends its ranks in order when its own time is up; CTest only
    # kills, so CTest comes second.
    math(EXPR timeout "${field_timeout} * ${storm_timeout_scale}")
    set(hard_timeout ${timeout})
    if(launch)
        list(APPEND env MPIEXEC_TIMEOUT=${timeout})
        math(EXPR hard_timeout "${timeout} + 10")
    endif()

    # Open MPI leaks at start-up, so only runs without MPI can look for leaks.
    if(launch OR is_script)
        list(APPEND env ASAN_OPTIONS=detect_leaks=0)
    else()
        list(APPEND env ASAN_OPTIONS=detect_leaks=1)
    endif()
    list(APPEND env UBSAN_OPTIONS=print_stacktrace=1
         ${field_env})

    # Those that may take longest first, so that none is left alone at the end.
    set(processors 1)
    if(ranks GREATER 1)
        set(processors 2)
    endif()
    add_test(NAME ${full} COMMAND ${launch} ${command} ${field_args})
    set_tests_properties(${full} PROPERTIES
        ENVIRONMENT "${env}"
        LABELS "${labels}"
        PROCESSORS ${processors}
        COST ${field_timeout}
        SKIP_RETURN_CODE 77
        TIMEOUT ${hard_timeout})
endfunction()

# The number of ranks for stages that take one of each plan: 3, or the largest
# below, or the smallest above.
function(storm_core_ranks result)
    list(SORT ARGN COMPARE NATURAL)
    list(GET ARGN 0 core)
    foreach(ranks IN LISTS ARGN)
        if(NOT ranks GREATER 3)
            set(core ${ranks})
        endif()
    endforeach()
    set(${result} ${core} PARENT_SCOPE)
endfunction()

# All tests of one file. default_plan: used if the file has none.
function(storm_add_tests path name command is_script default_plan)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${path})
    storm_read_plans(${path})
    if(plan_n EQUAL 0)
        set(plan_0 "${default_plan}")
        set(plan_n 1)
    endif()
    set(all_labels "")
    math(EXPR last "${plan_n} - 1")
    foreach(i RANGE ${last})
        storm_parse_plan(${path} "${plan_${i}}")
        string(REGEX REPLACE "/.*" "" folder "${name}")
        storm_core_ranks(core ${field_ranks})
        foreach(ranks IN LISTS field_ranks)
            set(labels ${folder} ${field_label})
            if(ranks GREATER 0)
                list(APPEND labels mpi)
            endif()
            if(ranks EQUAL core)
                list(APPEND labels core)
            endif()
            foreach(backend IN LISTS field_backend)
                storm_register(${name} ${ranks} ${backend} "${labels}"
                               "${command}" ${is_script})
            endforeach()
        endforeach()
        list(APPEND all_labels ${field_label})
    endforeach()
    set(all_labels "${all_labels}" PARENT_SCOPE)
endfunction()

# A test program: one .c file and the whole library from inside.
function(storm_add_test_program path)
    get_filename_component(file ${path} NAME_WE)
    get_filename_component(dir ${path} DIRECTORY)
    get_filename_component(folder ${dir} NAME)
    storm_read_plans(${path})
    if(plan_n EQUAL 0)
        storm_test_complain(
            "tests/${folder}/${file}.c: no TEST line in its first comment")
        return()
    endif()
    set(target test-${folder}-${file})
    add_executable(${target} ${path})
    target_compile_options(${target} PRIVATE ${STORM_TEST_FLAGS})
    target_link_libraries(${target} PRIVATE storm_test_support)
    set_target_properties(${target} PROPERTIES
        OUTPUT_NAME ${file}
        RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests/${folder})
    storm_add_tests(${path} ${folder}/${file} $<TARGET_FILE:${target}> OFF "")
    add_dependencies(tests ${target})
    set(rooms storm_inside)
    if("tsan" IN_LIST all_labels)
        add_dependencies(tests-tsan ${target})
        if(TARGET storm_inside_low)
            set(rooms storm_inside_low)
        endif()
    endif()
    target_link_libraries(${target} PRIVATE ${rooms})
endfunction()

function(storm_add_test_script path)
    get_filename_component(file ${path} NAME_WE)
    get_filename_component(dir ${path} DIRECTORY)
    get_filename_component(folder ${dir} NAME)
    storm_read_plans(${path})
    if(plan_n EQUAL 0)
        return() # sourced by others
    endif()
    execute_process(COMMAND test -x ${path} RESULT_VARIABLE status)
    if(NOT status EQUAL 0)
        storm_test_complain("tests/${folder}/${file}.sh: not executable")
        return()
    endif()
    storm_add_tests(${path} ${folder}/${file} ${path} ON "")
endfunction()

# Examples are compiled as a user would: public headers, shared library, no
# feature macros.
function(storm_add_examples dir)
    file(GLOB paths CONFIGURE_DEPENDS ${dir}/*.c)
    foreach(path IN LISTS paths)
        get_filename_component(file ${path} NAME_WE)
        add_executable(example-${file} ${path})
        target_link_libraries(example-${file} PRIVATE
            storm_shared storm_flags ${storm_system_libs})
        set_target_properties(example-${file} PROPERTIES
            OUTPUT_NAME ${file}
            RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/examples)
        add_dependencies(product example-${file})
        add_dependencies(tests example-${file})
        storm_add_tests(${path} examples/${file}
            $<TARGET_FILE:example-${file}> OFF "ranks: 1 3")
    endforeach()
endfunction()
