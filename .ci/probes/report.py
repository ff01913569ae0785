"""Drives reports in a browser as a reader does, by pointer and by keyboard.

    report.py BROWSER PAGES OUT

PAGES is a folder with the pages of the test `look`: small.html, large.html and many.html, which has
more than 10 000 runs. Pictures of the pages are left in OUT.
"""

import os
import sys
import time

from playwright.sync_api import sync_playwright

# How many seconds a page of 10 000 runs may take, on a slow machine that is also building
# something.
LOAD_SECONDS = 60
STEP_SECONDS = 30
MOST_ELEMENTS = 30_000

browser_path, pages, out = sys.argv[1:]
wrong = []


def check(holds, message):
    if not holds:
        wrong.append(message)


def timed(name, act, limit):
    start = time.monotonic()
    result = act()
    seconds = time.monotonic() - start
    print(f"{name}: {seconds:.2f} s")
    check(seconds < limit, f"{name} took {seconds:.2f} s, more than {limit} s")
    return result


def opened(browser, name, width, **options):
    context = browser.new_context(viewport={"width": width, "height": 900}, **options)
    context.set_default_timeout(120_000)
    page = context.new_page()
    where = f"{name} at {width} px"
    page.on("console", lambda message: message.type == "error" and wrong.append(f"{where}: console: {message.text}"))
    page.on("pageerror", lambda error: wrong.append(f"{where}: script error: {error}"))
    page.on("request", lambda request: request.url.startswith("file:") or wrong.append(f"{where}: loads {request.url}"))
    page.goto(f"file://{os.path.abspath(pages)}/{name}.html")
    return page, where


def charts_by_keyboard(page, where):
    chart = page.locator("article svg.chart[tabindex]:visible").first
    chart.scroll_into_view_if_needed()
    chart.focus()
    page.keyboard.press("ArrowRight")
    first = page.locator(".tip").inner_text()
    page.keyboard.press("ArrowRight")
    check(page.locator(".tip").is_visible(), f"{where}: an arrow key shows no tip")
    check(first and page.locator(".tip").inner_text() != first, f"{where}: a second arrow key stays at the mark")
    check("in the order of runs" in first and " ok" in first, f"{where}: a tip without place and outcome: {first}")
    page.keyboard.press("Enter")
    dialog = page.locator("dialog[open]")
    check(dialog.count() == 1, f"{where}: Enter opens no runs")
    check("gclab exec" in dialog.locator("pre").first.inner_text(), f"{where}: the runs have no command")
    check("order" in dialog.inner_text() and "outcome" in dialog.inner_text(), f"{where}: the runs have no figures")
    dialog.locator("button.copy").first.press("Enter")
    page.wait_for_function("document.querySelector('dialog button.copy').textContent === 'Copied'")
    page.screenshot(path=f"{out}/report-runs-{where.split()[0]}.png")
    page.keyboard.press("Escape")
    check(page.locator("dialog[open]").count() == 0, f"{where}: Escape leaves the runs open")
    check(page.evaluate("document.activeElement.matches('svg.chart')"), f"{where}: the focus does not return to the chart")


def charts_by_pointer(page, where):
    chart = page.locator("article svg.chart[tabindex]:visible").first
    chart.scroll_into_view_if_needed()
    place = chart.evaluate("""svg => {
        const mark = marksOf(svg)[0][0], at = new DOMPoint(mark.x, mark.y).matrixTransform(svg.getScreenCTM());
        return [at.x, at.y];
    }""")
    page.mouse.move(*place)
    check(page.locator(".tip").is_visible(), f"{where}: a pointer shows no tip")
    page.screenshot(path=f"{out}/report-tip-{where.split()[0]}.png")
    page.mouse.click(*place)
    check(page.locator("dialog[open] button.copy").count() > 0, f"{where}: a click leads to no command")
    page.keyboard.press("Escape")
    page.mouse.move(0, 0)


def legend(page, where):
    button = page.locator(".legend button").first
    style = button.get_attribute("data-s")
    shown = lambda: page.evaluate(
        "style => [...document.querySelectorAll(`svg.chart > g[data-s='${style}']`)].filter(g => getComputedStyle(g).display !== 'none').length", style)
    before = shown()
    check(button.get_attribute("aria-pressed") == "true" and before > 0, f"{where}: a legend that shows nothing")
    button.press("Space")
    check(button.get_attribute("aria-pressed") == "false" and shown() < before, f"{where}: the legend hides no series")
    button.press("Space")
    check(shown() == before, f"{where}: the legend does not bring a series back")


def scales(page, where):
    kinds = lambda: page.evaluate("allCharts.map(svg => chartOf.get(svg)).filter(chart => chart.both).map(chart => chart.log ? 'log' : 'linear')")
    before = kinds()
    page.select_option("select[name=scale]", "log")
    check(set(kinds()) == {"log"}, f"{where}: not every chart became logarithmic: {kinds()}")
    page.select_option("select[name=scale]", "linear")
    check(set(kinds()) == {"linear"}, f"{where}: not every chart became linear")
    page.select_option("select[name=scale]", "drawn")
    check(kinds() == before, f"{where}: charts are not as drawn")


def colours(page, where):
    paper = lambda: page.evaluate("getComputedStyle(document.body).backgroundColor")
    light = paper()
    page.emulate_media(color_scheme="dark")
    dark = paper()
    check(dark != light, f"{where}: the page does not follow a dark system")
    page.select_option("select[name=theme]", "light")
    check(paper() == light, f"{where}: the reader cannot choose light colours")
    page.emulate_media(color_scheme="light")
    page.select_option("select[name=theme]", "dark")
    check(paper() == dark, f"{where}: the reader cannot choose dark colours")
    page.evaluate("scrollTo(0, 0)")
    page.screenshot(path=f"{out}/report-dark-{where.split()[0]}.png")
    page.select_option("select[name=theme]", "system")


def on_paper(page, where):
    check(len(page.pdf()) > 10_000, f"{where}: an empty print")
    all_on_paper(page, where)


def all_on_paper(page, where):
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    closed = page.locator("details:not([open])").count()
    rows = page.evaluate("document.querySelector('.runs tbody').rows.length")
    planned = page.evaluate("document.querySelector('.runs').longTable.data.rows")
    check(closed == 0 and rows == planned, f"{where}: paper has {rows} of {planned} rows, and {closed} closed parts")
    page.evaluate("dispatchEvent(new Event('afterprint'))")


def without_scripts(browser, name):
    context = browser.new_context(java_script_enabled=False, viewport={"width": 1400, "height": 900})
    page = context.new_page()
    page.goto(f"file://{os.path.abspath(pages)}/{name}.html")
    check(page.locator("h1.headline").first.is_visible(), f"{name} without scripts: no answer")
    check(page.locator("svg.chart").first.is_visible(), f"{name} without scripts: no chart")
    check(page.locator("table tbody tr").count() > 5, f"{name} without scripts: no rows")
    context.close()


def many_runs(browser):
    page, where = timed("10 000 runs, loaded", lambda: opened(browser, "many", 1400), LOAD_SECONDS)
    paint = page.evaluate("performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? 0")
    elements = page.evaluate("document.querySelectorAll('*').length")
    print(f"10 000 runs: first paint after {paint:.0f} ms, {elements} elements")
    check(elements < MOST_ELEMENTS, f"{where}: {elements} elements")
    runs = page.locator("summary", has_text="All runs").first
    timed("opening the table of all runs", lambda: (runs.click(), page.locator(".runs tbody tr").nth(99).wait_for()), STEP_SECONDS + 1)
    rows = page.evaluate("document.querySelector('.runs').longTable.data.rows")
    check(rows > 10_000, f"{where}: {rows} runs")
    timed("sorting it", lambda: page.evaluate("document.querySelectorAll('.runs th.n button')[0].click()"), STEP_SECONDS)
    keys = page.evaluate("[...document.querySelectorAll('.runs tbody tr')].map(row => Number(row.querySelector('td.n').textContent)).filter(key => !isNaN(key))")
    check(keys == sorted(keys), f"{where}: the table is not sorted")
    bar = page.locator("details[open] > .bar")
    timed("finding in it", lambda: bar.locator("input").fill("compacting 64m"), STEP_SECONDS + 1)
    found = page.locator(".runs tbody tr").all_inner_texts()
    check(found and all("compacting" in row and "64m" in row for row in found), f"{where}: the search found other rows")
    bar.locator("button", has_text="Next").press("Enter")
    check("rows 101" in bar.locator("[role=status]").inner_text(), f"{where}: the second part does not come")
    timed("hiding a series", lambda: page.evaluate("""new Promise(done => {
        document.querySelector('.legend button').click();
        requestAnimationFrame(() => requestAnimationFrame(done));
    })"""), STEP_SECONDS)
    # The longest frame of a walk through the page: the best of three walks, since other programs
    # may disturb one.
    longest = min(page.evaluate("""async () => {
        let longest = 0, last = performance.now();
        for (let y = 0; y < document.body.scrollHeight; y += 600) {
            scrollTo(0, y);
            await new Promise(requestAnimationFrame);
            const now = performance.now();
            longest = Math.max(longest, now - last);
            last = now;
        }
        return longest;
    }""") for walk in range(3))
    print(f"10 000 runs: the longest frame of a scroll took {longest:.0f} ms")
    check(longest < 3000, f"{where}: a frame of a scroll took {longest:.0f} ms")
    bar.locator("input").fill("")
    timed("unfolding it for paper", lambda: all_on_paper(page, where), 10 * STEP_SECONDS)
    page.evaluate("document.querySelectorAll('article details').forEach(part => part.open = true)")
    cloud = page.evaluate_handle("""[...document.querySelectorAll('svg.chart[tabindex]')].filter(svg => svg.checkVisibility())
        .reduce((a, b) => marksOf(b).flat().length > marksOf(a).flat().length ? b : a)""").as_element()
    cloud.scroll_into_view_if_needed()
    # Scrolling hides the tip, and its event may come late.
    for attempt in range(100):
        page.wait_for_timeout(300)
        place = cloud.evaluate("""(svg, odd) => {
            const mark = marksOf(svg)[0][0], at = new DOMPoint(mark.x + (odd ? 1 : 0), mark.y).matrixTransform(svg.getScreenCTM());
            return [at.x, at.y];
        }""", attempt % 2 == 1)
        timed("a tip among 10 000 dots", lambda: page.mouse.move(*place), STEP_SECONDS)
        if page.locator(".tip").is_visible():
            break
    check(page.locator(".tip").is_visible(), f"{where}: a dot shows no tip")
    page.screenshot(path=f"{out}/report-many.png")
    page.context.close()


with sync_playwright() as playwright:
    browser = playwright.chromium.launch(executable_path=browser_path, args=["--no-sandbox"])
    for name in ["small", "large"]:
        for width in [1400, 420]:
            page, where = opened(browser, name, width)
            page.evaluate("document.querySelectorAll('article details').forEach(part => part.open = true)")
            for look in [charts_by_keyboard, charts_by_pointer, legend, scales, colours, on_paper]:
                look(page, where)
            page.context.close()
        without_scripts(browser, name)
    many_runs(browser)
    without_scripts(browser, "many")
    browser.close()

for message in wrong:
    print(f"WRONG: {message}", file=sys.stderr)
sys.exit(1 if wrong else 0)
