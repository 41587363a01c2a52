# Differential tests of base against other authors' libraries; without them skipped, and said so.
pkg_check_modules(JANSSON jansson)
if(JANSSON_FOUND)
  add_executable(peer_jansson ${CMAKE_CURRENT_LIST_DIR}/peer_jansson.c)
  eco_flags(peer_jansson)
  target_include_directories(peer_jansson SYSTEM PRIVATE ${JANSSON_INCLUDE_DIRS})
  target_link_libraries(peer_jansson PRIVATE eco_base ${JANSSON_LINK_LIBRARIES} m)
  add_test(NAME unit/base/peer_jansson
           COMMAND peer_jansson ${CMAKE_SOURCE_DIR}/tests/fuzz/corpus/json)
else()
  message(STATUS "tests: jansson is not installed; the JSON reader is not compared with it")
  add_test(NAME unit/base/peer_jansson
           COMMAND ${CMAKE_COMMAND} -E echo "SKIPPED: jansson is not installed")
  set_tests_properties(unit/base/peer_jansson PROPERTIES SKIP_REGULAR_EXPRESSION SKIPPED)
endif()
set_tests_properties(unit/base/peer_jansson PROPERTIES LABELS unit TIMEOUT 300)
