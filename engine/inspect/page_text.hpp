// The page of reports, made of page/ by page_text.py. @DATA@ marks the place of its data.
#pragma once

namespace oriel::runtime {

extern const char* const kPage;

}  // namespace oriel::runtime
