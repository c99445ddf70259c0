// The charts of this program as PDF, for papers.
#pragma once

#include <string>

namespace dasgd::svg {

/// One page with the picture of an SVG file that this program has written: lines, polygons,
/// rectangles, circles, paths and texts, in light colours. A unit of the picture is `scale` points.
/// Letters are Helvetica's, as every reader has it; what is not Latin-1 is left out.
std::string to_pdf(const std::string& svg, double scale);

}  // namespace dasgd::svg
