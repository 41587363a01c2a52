# The page: its engine against the program, then in Chromium. Left out loudly where something is
# missing; in CI that is an error.
set(missing)
if(NOT TARGET web)
  set(missing "the page is not built")
elseif(NOT EXISTS ${ECO_NODE_MODULES}/playwright-core/package.json OR
       NOT EXISTS ${ECO_NODE_MODULES}/@axe-core/playwright/package.json)
  set(missing "no playwright-core or axe-core")
else()
  find_program(ECO_CHROMIUM NAMES chromium chromium-browser google-chrome)
  if(NOT ECO_CHROMIUM)
    set(missing "no chromium")
  endif()
endif()
if(ECO_SANITIZE)
  return() # the engine is WebAssembly: the same bytes, tested in the plain suite
endif()
if(missing)
  if(DEFINED ENV{CI})
    message(FATAL_ERROR "tests of the page cannot run: ${missing} (scripts/setup.sh test)")
  endif()
  message(NOTICE "-- tests of the page are SKIPPED: ${missing} (scripts/setup.sh test)")
  return()
endif()
add_custom_target(page_for_tests ALL DEPENDS web)
add_test(NAME web/same COMMAND ${ECO_NODE} ${CMAKE_CURRENT_SOURCE_DIR}/web/same.mjs
         $<TARGET_FILE:ecocompute> ${ECO_WASM})
add_test(NAME web/page COMMAND ${ECO_NODE} ${CMAKE_CURRENT_SOURCE_DIR}/web/page.mjs ${ECO_WEB_DIST}
         ${ECO_WASM} ${CMAKE_SOURCE_DIR} $<TARGET_FILE:ecocompute>)
set_tests_properties(web/same web/page PROPERTIES LABELS web TIMEOUT 600 COST 60
                     ENVIRONMENT "ECO_CHROMIUM=${ECO_CHROMIUM}")
add_custom_target(web_test
  COMMAND ${CMAKE_COMMAND} -E env ECO_CHROMIUM=${ECO_CHROMIUM} ${ECO_NODE}
          ${CMAKE_CURRENT_SOURCE_DIR}/web/same.mjs $<TARGET_FILE:ecocompute> ${ECO_WASM} 5000
  COMMAND ${CMAKE_COMMAND} -E env ECO_CHROMIUM=${ECO_CHROMIUM} ${ECO_NODE}
          ${CMAKE_CURRENT_SOURCE_DIR}/web/page.mjs ${ECO_WEB_DIST} ${ECO_WASM} ${CMAKE_SOURCE_DIR}
          $<TARGET_FILE:ecocompute> --full
  DEPENDS web ecocompute USES_TERMINAL)
