# What is installed: the programs, libgml.so with its header, the CUDA plugin, the standard library and the models;
# `cpack -G TGZ` makes the archive that runs where it is unpacked. Included by CMakeLists.txt.

include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

# libgml.so: every static library of the tree behind the one header runtime/gml.h. Debian's archives of these three
# libraries cannot go into a shared object, so it needs theirs; OpenBLAS goes in.
find_library(JANSSON_SO jansson REQUIRED)
find_library(CSV_SO csv REQUIRED)
find_library(PROTOBUF_C_SO protobuf-c REQUIRED)
set(parts gml_model gml_run gml_checkpoint gml_data gml_report gml_exec gml_kernels gml_plan gml_compiler gml_grammar
          gml_graph gml_format gml_base)
list(TRANSFORM parts REPLACE "(.+)" "$<TARGET_FILE:\\1>" OUTPUT_VARIABLE archives)
add_library(gml_shared SHARED runtime/gml.c)
add_dependencies(gml_shared ${parts})
set_target_properties(gml_shared PROPERTIES OUTPUT_NAME gml VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}
  LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib C_VISIBILITY_PRESET hidden EXPORT_NAME gml
  LINK_DEPENDS "${archives}")
target_link_libraries(gml_shared PRIVATE -Wl,--start-group ${archives} -Wl,--end-group ${JANSSON_SO} ${CSV_SO}
                      ${PROTOBUF_C_SO} ZLIB::ZLIB Threads::Threads m ${CMAKE_DL_LIBS})
target_link_options(gml_shared PRIVATE -Wl,--exclude-libs,ALL)
if(OPENBLAS_A AND OPENBLAS_INCLUDE)
  target_link_libraries(gml_shared PRIVATE ${OPENBLAS_A})
  target_link_options(gml_shared PRIVATE
    -Wl,--wrap=blas_memory_alloc,--wrap=blas_memory_free,-u,__wrap_blas_memory_alloc)
endif()
if(NOT GML_SANITIZE)
  target_link_options(gml_shared PRIVATE -Wl,--no-undefined)
endif()
target_compile_definitions(gml_shared PRIVATE GML_VERSION="${PROJECT_VERSION}")
target_include_directories(gml_shared INTERFACE $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)

install(TARGETS gmlc gmlrun RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(TARGETS gml_shared EXPORT gml LIBRARY DESTINATION lib)
if(TARGET gml_cuda)
  install(TARGETS gml_cuda LIBRARY DESTINATION lib)
endif()
install(FILES runtime/gml.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(DIRECTORY models/std/ DESTINATION share/gml/std FILES_MATCHING PATTERN "*.gml")
install(DIRECTORY models/ DESTINATION share/gml/models PATTERN std EXCLUDE PATTERN "README.md" EXCLUDE)
install(DIRECTORY ${CMAKE_BINARY_DIR}/share/man/ DESTINATION share/man)
install(DIRECTORY ${CMAKE_BINARY_DIR}/share/bash-completion/ DESTINATION share/bash-completion)
install(FILES README.md LICENSE DESTINATION share/doc/gml)
install(DIRECTORY docs DESTINATION share/doc/gml)
install(FILES grammar/README.md DESTINATION share/doc/gml/grammar)

configure_file(tools/gml.pc.in ${CMAKE_BINARY_DIR}/gml.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/gml.pc DESTINATION lib/pkgconfig)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/gmlConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(EXPORT gml NAMESPACE gml:: FILE gmlConfig.cmake DESTINATION lib/cmake/gml)
install(FILES ${CMAKE_BINARY_DIR}/gmlConfigVersion.cmake DESTINATION lib/cmake/gml)

set(CPACK_PACKAGE_NAME gml)
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "A small language for models, and a runtime with one CUDA Graph launch per step")
set(CPACK_PACKAGE_VENDOR gml)
set(CPACK_STRIP_FILES ON)
set(CPACK_GENERATOR TGZ)
set(CPACK_PACKAGE_FILE_NAME gml-${PROJECT_VERSION}-${CMAKE_SYSTEM_NAME}-${CMAKE_SYSTEM_PROCESSOR})
include(CPack)
