# SPDX-License-Identifier: BSD-3-Clause
#
# The kinds of meshes: one row each. Which folders of src/mesh are compiled, the
# words of the deck key mesh.kind and of --mesh, the constants that stand for
# them, and the table of tracking kernels follow from it.
#
#   storm_mesh(NAME [FOLDER folder] [WIDE] [DEVICE])
#
#   NAME     the word; the constant is STORM_MESH_<NAME>
#   FOLDER   of src/mesh. Its kernels are storm_track_FOLDER, in
#            src/physics/track_FOLDER.c. Without one, decks may name the kind,
#            and learn that this build lacks it
#   WIDE     there are more copies of the kernels for wider registers,
#            storm_track_FOLDER_avx2 and storm_track_FOLDER_avx512
#   DEVICE   there are kernels for devices, storm_device_FOLDER: their text is
#            src/physics/device_FOLDER.c, what they read of a mesh is copied by
#            src/physics/image_FOLDER.c
#
# Makes storm_mesh_folders, and storm_meshes.h, storm_tracks.h and track_list.c
# in the folder generated/ of the build.

set(storm_mesh_folders "")
set(storm_mesh_words "")
set(storm_mesh_rows "")
set(storm_mesh_constants "")
set(storm_track_externs "")
set(storm_track_entries "")
set(storm_track_avx2_entries "")
set(storm_track_avx512_entries "")
set(storm_device_entries "")

macro(storm_mesh name)
    cmake_parse_arguments(mesh "WIDE;DEVICE" FOLDER "" ${ARGN})
    string(TOUPPER ${name} mesh_upper)
    list(APPEND storm_mesh_words ${name})
    string(APPEND storm_mesh_constants "    STORM_MESH_${mesh_upper},\n")
    set(mesh_built false)
    if(mesh_FOLDER)
        set(mesh_built true)
        list(APPEND storm_mesh_folders mesh/${mesh_FOLDER})
        set(mesh_track storm_track_${mesh_FOLDER})
        string(APPEND storm_track_externs
               "extern const struct storm_track_ops ${mesh_track};\n")
        string(APPEND storm_track_entries "    &${mesh_track},\n")
        if(mesh_DEVICE)
            set(mesh_device storm_device_${mesh_FOLDER})
            string(APPEND storm_track_externs
                   "extern const struct device_track_ops ${mesh_device};\n")
            string(APPEND storm_device_entries "    &${mesh_device},\n")
        endif()
        if(mesh_WIDE)
            foreach(wide IN ITEMS avx2 avx512)
                string(TOUPPER ${wide} mesh_wide)
                set(mesh_copy ${mesh_track}_${wide})
                string(APPEND storm_track_externs
                       "extern const struct storm_track_ops ${mesh_copy};\n")
                string(APPEND storm_track_${wide}_entries
                       "    STORM_IF_${mesh_wide}(&${mesh_copy}, "
                       "&${mesh_track}),\n")
            endforeach()
        endif()
    endif()
    string(APPEND storm_mesh_rows "    {\"${name}\", ${mesh_built}}, \\\n")
endmacro()

storm_mesh(cartesian FOLDER cart DEVICE)
storm_mesh(octree FOLDER octree DEVICE)
storm_mesh(voronoi FOLDER voronoi WIDE DEVICE)
storm_mesh(file FOLDER given WIDE DEVICE)

string(REPLACE ";" "|" storm_mesh_words "${storm_mesh_words}")
string(REGEX REPLACE ", \\\\\n$" "" storm_mesh_rows "${storm_mesh_rows}")
foreach(file IN ITEMS mesh/storm_meshes.h physics/storm_tracks.h
                      physics/track_list.c)
    get_filename_component(storm_generated_name ${file} NAME)
    configure_file(${PROJECT_SOURCE_DIR}/src/${file}.in
                   ${PROJECT_BINARY_DIR}/generated/${storm_generated_name}
                   @ONLY)
endforeach()
