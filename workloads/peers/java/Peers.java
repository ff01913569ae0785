import java.util.Arrays;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

/** The workloads of workloads/src in Java. */
public final class Peers {
    // ------------------------------------------------------------ SplitMix64
    static final long GAMMA = 0x9E3779B97F4A7C15L;

    static long finish(long z) {
        z = (z ^ (z >>> 30)) * 0xBF58476D1CE4E5B9L;
        z = (z ^ (z >>> 27)) * 0x94D049BB133111EBL;
        return z ^ (z >>> 31);
    }

    static long mix(long k) { return finish(k + GAMMA); }

    static final class Rng {
        long state;
        Rng(long seed) { state = seed; }
        long draw() { return finish(state += GAMMA); }
    }

    // z mod n for an unsigned z and 0 < n < 2^62
    static int urem(long z, int n) {
        long r = 2 * ((z >>> 1) % n) + (z & 1);
        return (int) (r >= n ? r - n : r);
    }

    // ------------------------------------------------------------ binary_trees, par_trees
    static final class Tree {
        final Tree left, right;
        Tree(Tree l, Tree r) { left = l; right = r; }
    }

    static Tree make(int d) {
        return d == 0 ? new Tree(null, null) : new Tree(make(d - 1), make(d - 1));
    }

    static long check(Tree t) { return t.left == null ? 1 : 1 + check(t.left) + check(t.right); }

    static long binaryTrees(int n) {
        int max = Math.max(n, 6);
        long c = check(make(max + 1));
        Tree keep = make(max);
        for (int d = 4; d <= max; d += 2)
            for (int i = 1 << (max - d + 4); i > 0; i--) c += check(make(d));
        return c + check(keep);
    }

    /** -Dalloc=1: bytes really allocated, on stderr, to catch scalar replacement (a checksum cannot). */
    static final AtomicLong allocated = new AtomicLong();

    static void noteAllocated() {
        if (System.getProperty("alloc") != null)
            allocated.addAndGet(((com.sun.management.ThreadMXBean) java.lang.management.ManagementFactory.getThreadMXBean())
                .getThreadAllocatedBytes(Thread.currentThread().getId()));
    }

    static long parTrees(int t, int n) throws InterruptedException {
        long[] sums = new long[t];
        Thread[] threads = new Thread[t];
        for (int i = 0; i < t; i++) {
            final int id = i;
            threads[i] = new Thread(() -> { sums[id] = binaryTrees(n - id); noteAllocated(); });
            threads[i].start();
        }
        long c = 0;
        for (int i = 0; i < t; i++) { threads[i].join(); c += sums[i]; }
        return c;
    }

    // ------------------------------------------------------------ gcbench
    static final class GNode {
        GNode left, right;
        long i, j;
        GNode() {}
        GNode(GNode l, GNode r) { left = l; right = r; }
    }

    static GNode bottomUp(int d) {
        return d <= 0 ? new GNode() : new GNode(bottomUp(d - 1), bottomUp(d - 1));
    }

    static void populate(int d, GNode n) {
        if (d <= 0) return;
        n.left = new GNode();
        n.right = new GNode();
        populate(d - 1, n.left);
        populate(d - 1, n.right);
    }

    static long count(GNode n) { return n == null ? 0 : 1 + count(n.left) + count(n.right); }

    static long treeSize(int d) { return (1L << (d + 1)) - 1; }

    static GNode sink;          // keeps the dropped trees from being optimised away

    static long gcbench(int stretch, int longD, int arrN) {
        sink = bottomUp(stretch);
        sink = null;
        GNode keep = new GNode();
        populate(longD, keep);
        double[] a = new double[arrN];
        for (int k = 0; k < arrN / 2; k++) a[k] = 1.0 / (k + 1);
        long k = 0;
        for (int d = 4; d <= longD; d += 2) {
            long iters = 2 * treeSize(stretch) / treeSize(d);
            for (long i = 0; i < iters; i++) { GNode t = new GNode(); populate(d, t); sink = t; }
            sink = null;
            k += iters;
            for (long i = 0; i < iters; i++) sink = bottomUp(d);
            sink = null;
            k += iters;
        }
        long nz = 0;
        for (double x : a) if (x != 0) nz++;
        return count(keep) + nz + k;
    }

    // ------------------------------------------------------------ long_list
    static final class Cell {
        final Cell next;
        final long value;
        Cell(Cell n, long v) { next = n; value = v; }
    }

    static long sum(Cell l) {
        long c = 0;
        for (; l != null; l = l.next) c += l.value;
        return c;
    }

    static Cell shortList(int n) {
        Cell l = null;
        for (int k = n - 1; k >= 0; k--) l = new Cell(l, k);
        return l;
    }

    static long longList(int n, int m) {
        Rng rng = new Rng(1);
        Cell keep = null;
        for (int i = 0; i < n; i++) keep = new Cell(keep, rng.draw());
        long c = 0;
        for (int i = 0; i < m; i++) c += sum(shortList(10));
        return c + sum(keep);
    }

    // ------------------------------------------------------------ mut_array
    static final class Box {
        final long value;
        Box(long v) { value = v; }
    }

    static long mutArray(int n, int u) {
        Rng rng = new Rng(2);
        Box[] a = new Box[n];
        for (int k = 0; k < n; k++) a[k] = new Box(k);
        for (int i = 0; i < u; i++) {
            int idx = urem(rng.draw(), n);
            a[idx] = new Box(rng.draw());
        }
        long c = 0;
        for (Box b : a) c += b.value;
        return c;
    }

    // ------------------------------------------------------------ hash_churn
    static final class Entry {
        final long key;
        final byte[] bytes;
        Entry next;
        Entry(long k, byte[] b, Entry n) { key = k; bytes = b; next = n; }
    }

    static void toggle(Entry[] heads, long key) {
        int bkt = urem(mix(key), heads.length);
        Entry head = heads[bkt], prev = null;
        for (Entry e = head; e != null; prev = e, e = e.next)
            if (e.key == key) {
                if (prev == null) heads[bkt] = e.next; else prev.next = e.next;
                return;
            }
        byte[] bytes = new byte[16 + (int) (key % 48)];
        Arrays.fill(bytes, (byte) key);
        heads[bkt] = new Entry(key, bytes, head);
    }

    static long hashChurn(int b, int k, int u) {
        Rng rng = new Rng(3);
        Entry[] heads = new Entry[b];
        for (int i = 0; i < u; i++) toggle(heads, urem(rng.draw(), k));
        long c = 0;
        for (Entry h : heads)
            for (Entry e = h; e != null; e = e.next) c += e.key + e.bytes.length + (e.bytes[0] & 255);
        return c;
    }

    // ------------------------------------------------------------ message_window
    static final class Node {
        Node left, right;       // written only while the node is being built
        final byte[] msg;
        final long key, prio;
        Node(Node l, Node r, byte[] m, long k, long p) { left = l; right = r; msg = m; key = k; prio = p; }
        Node withLeft(Node l) { return new Node(l, right, msg, key, prio); }
        Node withRight(Node r) { return new Node(left, r, msg, key, prio); }
    }

    /** Path-copying split at key, iterative: the two result spines grow downwards. */
    static Node splitInsert(Node t, long key, long prio, byte[] msg) {
        Node root = new Node(null, null, msg, key, prio);
        Node lo = null, hi = null;      // last node of the left / right result
        while (t != null) {
            if (t.key < key) {
                Node c = t.withRight(null);
                if (lo == null) root.left = c; else lo.right = c;
                lo = c;
                t = t.right;
            } else {
                Node c = t.withLeft(null);
                if (hi == null) root.right = c; else hi.left = c;
                hi = c;
                t = t.left;
            }
        }
        return root;
    }

    static Node insert(Node t, long key, long prio, byte[] msg) {
        if (t == null) return new Node(null, null, msg, key, prio);
        if (Long.compareUnsigned(prio, t.prio) > 0) return splitInsert(t, key, prio, msg);
        return key < t.key ? t.withLeft(insert(t.left, key, prio, msg))
                           : t.withRight(insert(t.right, key, prio, msg));
    }

    static Node deleteMin(Node t) { return t.left == null ? t.right : t.withLeft(deleteMin(t.left)); }

    static long total(Node t) {
        return t == null ? 0 : total(t.left) + total(t.right) + t.key + (t.msg[0] & 255);
    }

    static long messageWindow(int w, int m, int p) {
        Node t = null;
        int size = 0;
        for (int i = 0; i < m; i++) {
            byte[] msg = new byte[p];
            Arrays.fill(msg, (byte) i);
            t = insert(t, i, mix(i), msg);
            if (++size > w) { t = deleteMin(t); size--; }
        }
        return total(t);
    }

    // ------------------------------------------------------------ server
    static final class CacheEntry {
        final long key;
        final byte[] value;
        CacheEntry(long k, byte[] v) { key = k; value = v; }
    }

    static CacheEntry store(CacheEntry[] cache, long key) {
        byte[] value = new byte[1000];
        Arrays.fill(value, (byte) key);
        return cache[(int) (key % cache.length)] = new CacheEntry(key, value);
    }

    static long answer(CacheEntry[] cache, long request) {
        Rng rng = new Rng(mix(request));
        long popular = 1 + Long.remainderUnsigned(rng.draw(), 4L * cache.length);
        long key = Long.remainderUnsigned(rng.draw(), popular);
        Cell list = null;
        for (int i = 0; i < 500; i++) list = new Cell(list, rng.draw());
        CacheEntry entry = cache[(int) (key % cache.length)];
        if (entry == null || entry.key != key) entry = store(cache, key);
        return sum(list) + key + (entry.value[0] & 255) + (entry.value[999] & 255);
    }

    static void waitUntil(long due) {
        for (;;) {
            long left = due - System.nanoTime();
            if (left <= 0) return;
            if (left > 200_000) LockSupport.parkNanos(left - 200_000);
            else Thread.yield();
        }
    }

    /** Latencies in nanoseconds, to three digits. */
    static final class Latency {
        final long[] counts = new long[60 << 10];
        long requests, max;

        // Below 2048 a slot for each; above, 1024 slots for each power of two.
        void record(long ns) {
            int shift = Math.max(0, 53 - Long.numberOfLeadingZeros(ns));
            counts[(shift << 10) + (int) (ns >>> shift)]++;
            requests++;
            max = Math.max(max, ns);
        }

        void add(Latency other) {
            for (int i = 0; i < counts.length; i++) counts[i] += other.counts[i];
            requests += other.requests;
            max = Math.max(max, other.max);
        }

        /** The highest latency of all but one in `rarer` requests. */
        long exceededByOneIn(long rarer) {
            long left = requests - requests / rarer;
            int i = 0;
            while ((left -= counts[i]) > 0) i++;
            int shift = Math.max(0, (i >> 10) - 1);
            return ((long) (i - (shift << 10)) + 1 << shift) - 1;
        }

        /** The last figures that gclab reads from standard error. */
        void print(double seconds) {
            StringBuilder line = new StringBuilder("latency requests=" + requests);
            String[] names = {"p50", "p90", "p99", "p99_9", "p99_99"};
            long rarer = 1;
            for (String name : names) {
                rarer = rarer == 1 ? 2 : rarer == 2 ? 10 : 10 * rarer;
                if (requests >= rarer) line.append(" " + name + "_ns=" + exceededByOneIn(rarer));
            }
            if (requests > 0) line.append(" max_ns=" + max);
            System.err.println(line + " per_second=" + Math.round(requests / seconds));
        }
    }

    /** Answers requests from `first` on with several threads; their latencies are added to `latency`. */
    static long serve(int threads, long first, long requests, CacheEntry[] cache, long rate, Latency latency) throws InterruptedException {
        AtomicLong next = new AtomicLong();
        AtomicLong answers = new AtomicLong();
        long start = System.nanoTime() + 20_000_000;
        Thread[] all = new Thread[threads];
        for (int t = 0; t < threads; t++) {
            all[t] = new Thread(() -> {
                Latency own = new Latency();
                long sum = 0;
                for (long r; (r = next.getAndIncrement()) < requests;) {
                    long due;
                    if (rate > 0) waitUntil(due = start + r / rate * 1_000_000_000 + r % rate * 1_000_000_000 / rate);
                    else due = System.nanoTime();
                    sum += answer(cache, first + r);
                    own.record(System.nanoTime() - due);
                }
                answers.addAndGet(sum);
                synchronized (latency) { latency.add(own); }
            });
            all[t].start();
        }
        for (Thread thread : all) thread.join();
        return answers.get();
    }

    /** The first requests only warm up the compiler: their answers and latencies do not count. */
    static final long WARM_UP = 100_000;

    static long server(int threads, int requests, int slots, int rate) throws InterruptedException {
        CacheEntry[] cache = new CacheEntry[slots];
        for (int key = 0; key < slots; key++) store(cache, key);
        serve(threads, requests, WARM_UP, cache, 0, new Latency());
        Latency latency = new Latency();
        long start = System.nanoTime();
        long sum = serve(threads, 0, requests, cache, rate, latency);
        latency.print((System.nanoTime() - start) * 1e-9);
        return sum;
    }

    // ------------------------------------------------------------ main
    public static void main(String[] args) throws Exception {
        int[] a = new int[Math.max(0, args.length - 1)];
        for (int i = 0; i < a.length; i++) a[i] = Integer.parseInt(args[i + 1]);
        String w = args.length > 0 ? args[0] : "";
        long c;
        switch (w + "/" + a.length) {
            case "binary_trees/1": c = binaryTrees(a[0]); break;
            case "gcbench/3": c = gcbench(a[0], a[1], a[2]); break;
            case "long_list/2": c = longList(a[0], a[1]); break;
            case "mut_array/2": c = mutArray(a[0], a[1]); break;
            case "hash_churn/3": c = hashChurn(a[0], a[1], a[2]); break;
            case "message_window/3": c = messageWindow(a[0], a[1], a[2]); break;
            case "par_trees/2": c = parTrees(a[0], a[1]); break;
            case "server/4": c = server(a[0], a[1], a[2], a[3]); break;
            default: System.err.println("usage: Peers WORKLOAD ARGS..."); System.exit(1); return;
        }
        noteAllocated();
        if (System.getProperty("alloc") != null) System.err.println("allocated " + allocated.get());
        System.out.println(w + " checksum=" + Long.toUnsignedString(c));
    }
}
