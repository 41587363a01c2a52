# The store's tests: one suite, run on SQLite and, where its server is installed, on PostgreSQL.
if(TARGET eco_store)
  add_executable(test_store ${CMAKE_CURRENT_LIST_DIR}/test_store.c
                 ${CMAKE_SOURCE_DIR}/src/helpers/store_port.c)
  eco_flags(test_store)
  target_include_directories(test_store PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/unit)
  # the report's rules and the published curves, as the services give them to the store
  target_link_libraries(test_store PRIVATE eco_store eco_report eco_dataset cmocka m
                        ${CMAKE_DL_LIBS})
  target_compile_definitions(test_store PRIVATE ECO_SOURCE_DIR="${CMAKE_SOURCE_DIR}")
  add_test(NAME store/sqlite COMMAND test_store)
  add_test(NAME store/postgresql COMMAND ${CMAKE_CURRENT_LIST_DIR}/postgres.sh
           $<TARGET_FILE:test_store>)
  set_tests_properties(store/sqlite store/postgresql PROPERTIES LABELS unit TIMEOUT 300
                       SKIP_RETURN_CODE 77)
endif()
if(TARGET ecocompute-store)
  add_test(NAME store/tool COMMAND ${CMAKE_CURRENT_LIST_DIR}/tool.sh
           $<TARGET_FILE:ecocompute-store>)
  set_tests_properties(store/tool PROPERTIES LABELS cli TIMEOUT 60)
endif()
# the main program links no database (start-up, docs/architecture.md)
if(TARGET ecocompute)
  add_test(NAME store/not-in-the-main-program
           COMMAND sh -c "! ldd $<TARGET_FILE:ecocompute> | grep -E 'sqlite|libpq|sodium'")
  set_tests_properties(store/not-in-the-main-program PROPERTIES LABELS unit TIMEOUT 30)
endif()
