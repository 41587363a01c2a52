# `make install`: the program, one static library with the public headers, and what the program
# itself writes from its tables - the man page and the shell completions.
include(GNUInstallDirs)

# The public library is the set that also compiles to WebAssembly, in one archive.
set(objects)
foreach(module base core dataset model report)
  get_target_property(type eco_${module} TYPE)
  if(type STREQUAL "STATIC_LIBRARY")
    list(APPEND objects $<TARGET_OBJECTS:eco_${module}>)
  endif()
endforeach()
add_library(ecocompute_static STATIC ${objects})
set_target_properties(ecocompute_static PROPERTIES OUTPUT_NAME ecocompute LINKER_LANGUAGE C)

file(GLOB headers CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/include/*.h)
install(TARGETS ecocompute_static ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(FILES ${headers} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/ecocompute)
file(RELATIVE_PATH ECO_PREFIX_FROM_PC /p/${CMAKE_INSTALL_LIBDIR}/pkgconfig /p)
configure_file(${CMAKE_SOURCE_DIR}/cmake/ecocompute.pc.in ${CMAKE_BINARY_DIR}/ecocompute.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/ecocompute.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
foreach(text LICENSE NOTICE CITATION.cff CHANGELOG.md)
  install(FILES ${CMAKE_SOURCE_DIR}/${text} DESTINATION ${CMAKE_INSTALL_DOCDIR} OPTIONAL)
endforeach()

if(TARGET ecocompute)
  install(TARGETS ecocompute RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  # What `ecocompute ARGUMENT...` prints, as a file.
  set(written)
  function(eco_install_written file destination)
    set(path ${CMAKE_BINARY_DIR}/written/${file})
    add_custom_command(OUTPUT ${path}
      COMMAND ${CMAKE_COMMAND} -E make_directory ${CMAKE_BINARY_DIR}/written
      COMMAND ecocompute ${ARGN} > ${path}
      DEPENDS ecocompute VERBATIM)
    set(written ${written} ${path} PARENT_SCOPE)
    install(FILES ${path} DESTINATION ${destination})
  endfunction()
  eco_install_written(ecocompute.1 ${CMAKE_INSTALL_MANDIR}/man1 help --man)
  eco_install_written(ecocompute ${CMAKE_INSTALL_DATADIR}/bash-completion/completions
                      help --completion bash)
  eco_install_written(_ecocompute ${CMAKE_INSTALL_DATADIR}/zsh/site-functions
                      help --completion zsh)
  eco_install_written(ecocompute.fish ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d
                      help --completion fish)
  add_custom_target(written_docs ALL DEPENDS ${written})
endif()
