/* SPDX-License-Identifier: BSD-3-Clause */
/* The film of a report. */
#include "view/report_film.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

const char report_film_style[] =
    ".strip{display:grid;gap:.8em;list-style:none;padding:0;margin:.8em 0;"
    "grid-template-columns:repeat(auto-fill,minmax(150px,1fr))}\n"
    ".strip li{padding:4px;border:2px solid transparent;font-size:13px}\n"
    ".strip img{display:block;width:100%;height:auto}\n"
    ".film.plays .strip{display:flex;overflow-x:auto}\n"
    ".film.plays .strip li{flex:0 0 130px;cursor:pointer}\n"
    ".film.plays .strip li.now{border-color:#d55e00}\n"
    ".keys{display:flex;flex-wrap:wrap;gap:.5em;align-items:center;"
    "max-width:760px}\n"
    ".keys button{font:inherit;min-width:2.6em;padding:.3em .7em}\n"
    ".keys input{flex:1 1 160px}\n";

/* The page is XML, too: no < and no & in it. */
static const char film_script[] =
    "(function () {\n"
    "'use strict';\n"
    "var film = document.getElementById('film');\n"
    "if (film === null) return;\n"
    "var frames = film.querySelectorAll('.strip li');\n"
    "var picture = film.querySelector('image.frame');\n"
    "var time = film.querySelector('figcaption');\n"
    "var n = frames.length, at = n - 1, timer = 0;\n"
    "var keys = document.createElement('div');\n"
    "var slider = document.createElement('input');\n"
    "function show(i) {\n"
    "  frames[at].className = '';\n"
    "  at = Math.max(0, Math.min(n - 1, i));\n"
    "  var frame = frames[at], strip = frame.parentNode;\n"
    "  frame.className = 'now';\n"
    "  picture.setAttribute('href', frame.querySelector('img').src);\n"
    "  time.textContent = frame.querySelector('span').textContent;\n"
    "  slider.value = at;\n"
    "  slider.setAttribute('aria-valuetext', time.textContent);\n"
    "  strip.scrollLeft = frame.offsetLeft - strip.offsetLeft\n"
    "    - strip.clientWidth / 2 + frame.clientWidth / 2;\n"
    "}\n"
    "function stop() {\n"
    "  clearInterval(timer);\n"
    "  timer = 0;\n"
    "  play.textContent = 'Play';\n"
    "}\n"
    "function step(i) {\n"
    "  stop();\n"
    "  show(i);\n"
    "}\n"
    "function start() {\n"
    "  if (timer !== 0) { stop(); return; }\n"
    "  if (at === n - 1) show(0);\n"
    "  play.textContent = 'Pause';\n"
    "  timer = setInterval(function () {\n"
    "    if (at === n - 1) stop(); else show(at + 1);\n"
    "  }, Math.max(80, Math.min(600, 8000 / n)));\n"
    "}\n"
    "function button(text, label, act) {\n"
    "  var b = document.createElement('button');\n"
    "  b.type = 'button';\n"
    "  b.textContent = text;\n"
    "  b.title = label;\n"
    "  b.addEventListener('click', act);\n"
    "  keys.appendChild(b);\n"
    "  return b;\n"
    "}\n"
    "keys.className = 'keys';\n"
    "button('|\\u25c0', 'first dump (Home)', function () { step(0); });\n"
    "button('\\u25c0', 'one back (left arrow)',\n"
    "  function () { step(at - 1); });\n"
    "var play = button('Play', 'play or pause (space)', start);\n"
    "button('\\u25b6', 'one on (right arrow)',\n"
    "  function () { step(at + 1); });\n"
    "button('\\u25b6|', 'last dump (End)', function () { step(n - 1); });\n"
    "slider.type = 'range';\n"
    "slider.min = 0;\n"
    "slider.max = n - 1;\n"
    "slider.setAttribute('aria-label', 'dump');\n"
    "slider.addEventListener('input', function () { step(+slider.value); });\n"
    "keys.appendChild(slider);\n"
    "film.insertBefore(keys, film.querySelector('.strip'));\n"
    "film.className = 'film plays';\n"
    "film.tabIndex = 0;\n"
    "film.addEventListener('keydown', function (event) {\n"
    "  var to = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0,\n"
    "    End: n - 1 }[event.key];\n"
    "  if (event.target === slider) return;\n"
    "  if (to !== undefined) step(to);\n"
    "  else if (event.key !== ' ') return;\n"
    "  else if (event.target.tagName === 'BUTTON') return;\n"
    "  else start();\n"
    "  event.preventDefault();\n"
    "});\n"
    "frames.forEach(function (frame, i) {\n"
    "  frame.addEventListener('click', function () { step(i); });\n"
    "});\n"
    "show(n - 1);\n"
    "}());\n";

struct film {
    struct storm_page *page;
    struct storm_page strip;
    double lo[3], hi[3]; /* of all boxes */
    uint64_t last;       /* step */
};

/* ---- frames -------------------------------------------------------------- */

/* The large picture: its cells are the image of the last dump. */
static storm_status film_add_stage(struct film *film, struct plot_run *plot,
                                   const struct plot_picture *picture,
                                   const char *image, const char *time)
{
    char subtitle[PLOT_TEXT], at[STORM_SVG_LABEL_BYTES];
    const int axis = picture->slice->axis;
    struct plot_picture stage = *picture;
    storm_svg_number(plot_at(plot, axis), 4, at);
    snprintf(subtitle, sizeof subtitle, "temperatures, %c = %s%s", 'x' + axis,
             at, plot->natural ? "" : " cm");
    stage.subtitle = subtitle;
    stage.image = image;
    char *svg = plot_slice_svg(&stage);
    if (svg == NULL)
        return plot_fail(plot, STORM_ERR_NOMEM, "no memory");
    storm_page_add(film->page,
                   "<figure aria-label=\"temperatures of all dumps\">\n"
                   "%s<figcaption>",
                   svg);
    free(svg);
    storm_page_add_xml(film->page, time);
    storm_page_add(film->page, "</figcaption></figure>\n");
    return STORM_OK;
}

static void film_add_frame(struct film *film, const char *image,
                           const char *time)
{
    storm_page_add(&film->strip, "<li><img alt=\"\" src=\"%s\"/><span>", image);
    storm_page_add_xml(&film->strip, time);
    storm_page_add(&film->strip, "</span></li>\n");
}

/* FILM-1: a box that all meshes fit into. */
static storm_status film_take(struct plot_run *plot,
                              const struct plot_picture *picture, uint64_t step)
{
    struct film *film = plot->take_slice_self;
    struct plot_picture frame = *picture;
    struct storm_page text = {0};
    char time[PLOT_TEXT];
    for (int k = 0; k < 2; k++) {
        int d = slice_direction(picture->slice->axis, k);
        frame.lo[k] = film->lo[d];
        frame.hi[k] = film->hi[d];
    }
    storm_status status = plot_time(plot, step, time);
    plot_slice_image(&frame, &text);
    char *image = storm_page_end(&text);
    if (status == STORM_OK && image == NULL)
        status = plot_fail(plot, STORM_ERR_NOMEM, "no memory");
    if (status == STORM_OK)
        film_add_frame(film, image, time);
    if (status == STORM_OK && step == film->last)
        status = film_add_stage(film, plot, &frame, image, time);
    free(image);
    return status;
}

/* ---- all ----------------------------------------------------------------- */

static storm_status film_find_box(struct film *film, struct plot_run *plot,
                                  const uint64_t *steps, size_t n)
{
    storm_status status = STORM_OK;
    for (int d = 0; d < 3; d++) {
        film->lo[d] = (double)INFINITY;
        film->hi[d] = (double)-INFINITY;
    }
    for (size_t i = 0; i < n && status == STORM_OK; i++) {
        status = plot_use(plot, steps[i]);
        for (int d = 0; d < 3; d++) {
            film->lo[d] = fmin(film->lo[d], plot->lo[d]);
            film->hi[d] = fmax(film->hi[d], plot->hi[d]);
        }
        if (!plot->moves)
            break;
    }
    return status;
}

static void film_begin(const struct plot_run *plot, size_t n,
                       struct storm_page *page)
{
    storm_page_add(page, "<h2>Film</h2>\n<p>");
    if (n < plot->dumps.n)
        storm_page_add(page, "%zu of %zu dumps", n, plot->dumps.n);
    else
        storm_page_add(page, "All %zu dumps", n);
    storm_page_add(page, " on one scale of colours.</p>\n"
                         "<div class=\"film\" id=\"film\">\n");
}

static storm_status film_fill(struct plot_run *plot, const uint64_t *steps,
                              size_t n, struct storm_page *page)
{
    struct film film = {.page = page, .last = steps[n - 1]};
    storm_status status = film_find_box(&film, plot, steps, n);
    plot->take_slice = film_take;
    plot->take_slice_self = &film;
    film_begin(plot, n, page);
    if (status == STORM_OK)
        status = plot_field(plot, "temperatures", steps, n);
    plot->take_slice = NULL;
    char *strip = storm_page_end(&film.strip);
    if (status == STORM_OK && strip == NULL)
        status = plot_fail(plot, STORM_ERR_NOMEM, "no memory");
    if (status == STORM_OK)
        storm_page_add(page,
                       "<ol class=\"strip\">\n%s</ol>\n</div>\n"
                       "<script>\n%s</script>\n",
                       strip, film_script);
    free(strip);
    return status;
}

storm_status report_film(struct plot_run *plot, struct storm_page *page)
{
    const struct plot_steps *dumps = &plot->dumps;
    uint64_t steps[FILM_MAX];
    size_t n = dumps->n < FILM_MAX ? dumps->n : FILM_MAX;
    if (n < 2)
        return STORM_OK;
    for (size_t i = 0; i < n; i++) /* the first, the last, and some between */
        steps[i] = dumps->step[i * (dumps->n - 1) / (n - 1)];
    return film_fill(plot, steps, n, page);
}
