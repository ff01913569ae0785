(* The workloads of workloads/src in OCaml (4.13, one thread: no par_trees).
   OCaml ints are 63-bit: draws are Int64 kept unboxed (the generator's state lives in a Bytes);
   stored u64 values are two 32-bit halves in a cell (long_list) or a boxed Int64 (mut_array's box).
   Values of long_list with at most 62 bits are ints; then all objects have the size of ours. *)

external get64 : Bytes.t -> int -> int64 = "%caml_bytes_get64u"
external set64 : Bytes.t -> int -> int64 -> unit = "%caml_bytes_set64u"

let rng seed = let b = Bytes.create 8 in set64 b 0 (Int64.of_int seed); b

let[@inline] finish z =
  let z = Int64.mul (Int64.logxor z (Int64.shift_right_logical z 30)) 0xBF58476D1CE4E5B9L in
  let z = Int64.mul (Int64.logxor z (Int64.shift_right_logical z 27)) 0x94D049BB133111EBL in
  Int64.logxor z (Int64.shift_right_logical z 31)

let[@inline] draw st =
  let s = Int64.add (get64 st 0) 0x9E3779B97F4A7C15L in
  set64 st 0 s; finish s

let[@inline] mix k = finish (Int64.add (Int64.of_int k) 0x9E3779B97F4A7C15L)

(* z mod n for an unsigned 64-bit z and 0 < n < 2^61 *)
let[@inline] urem z n =
  let h = Int64.to_int (Int64.rem (Int64.shift_right_logical z 1) (Int64.of_int n)) in
  let r = 2 * h + Int64.to_int (Int64.logand z 1L) in
  if r >= n then r - n else r

(* ---------------------------------------------------------------- binary_trees *)
type tree = TNil | TNode of tree * tree

let rec make d =
  (* opaque: a constant TNode (TNil, TNil) would be one static block shared by every leaf *)
  if d = 0 then TNode (Sys.opaque_identity TNil, Sys.opaque_identity TNil)
  else let l = make (d - 1) in let r = make (d - 1) in TNode (l, r)

let rec check = function
  | TNil -> 0
  | TNode (TNil, _) -> 1
  | TNode (l, r) -> 1 + check l + check r

let binary_trees n =
  let mx = max n 6 in
  let c = ref (check (make (mx + 1))) in
  let long = make mx in
  let d = ref 4 in
  while !d <= mx do
    for _ = 1 to 1 lsl (mx - !d + 4) do c := !c + check (make !d) done;
    d := !d + 2
  done;
  Int64.of_int (!c + check long)

(* ---------------------------------------------------------------- gcbench *)
type gnode = GNil | GNode of { mutable l : gnode; mutable r : gnode; i : int; j : int }

let[@inline] fresh () = GNode { l = GNil; r = GNil; i = 0; j = 0 }

let rec bottom_up d =
  if d <= 0 then fresh ()
  else let l = bottom_up (d - 1) in let r = bottom_up (d - 1) in GNode { l; r; i = 0; j = 0 }

let rec populate d n =
  if d > 0 then match n with
    | GNil -> ()
    | GNode n ->
      let a = fresh () in n.l <- a;
      let b = fresh () in n.r <- b;
      populate (d - 1) a; populate (d - 1) b

let rec count_nodes = function
  | GNil -> 0
  | GNode { l; r; i = _; j = _ } -> 1 + count_nodes l + count_nodes r

let tree_size d = (1 lsl (d + 1)) - 1

let gcbench stretch long_d arr_n =
  ignore (Sys.opaque_identity (bottom_up stretch));
  let long = fresh () in
  populate long_d long;
  let a = Array.make arr_n 0.0 in
  for k = 0 to arr_n / 2 - 1 do a.(k) <- 1.0 /. float_of_int (k + 1) done;
  let k = ref 0 in
  let d = ref 4 in
  while !d <= long_d do
    let iters = 2 * tree_size stretch / tree_size !d in
    for _ = 1 to iters do let t = fresh () in populate !d t done;
    k := !k + iters;
    for _ = 1 to iters do ignore (Sys.opaque_identity (bottom_up !d)) done;
    k := !k + iters;
    d := !d + 2
  done;
  let nz = ref 0 in
  for i = 0 to arr_n - 1 do if a.(i) <> 0.0 then incr nz done;
  Int64.of_int (count_nodes long + !nz + !k)

(* ---------------------------------------------------------------- long_list *)
(* value = hi * 2^32 + lo *)
type cell = LNil | LCons of { next : cell; lo : int; hi : int }

let sum_cells l =
  let c = ref 0L and p = ref l in
  let continue = ref true in
  while !continue do
    match !p with
    | LNil -> continue := false
    | LCons { next; lo; hi } ->
      c := Int64.add !c (Int64.add (Int64.shift_left (Int64.of_int hi) 32) (Int64.of_int lo));
      p := next
  done;
  !c

let rec short_list k acc =
  if k = 0 then acc else short_list (k - 1) (LCons { next = acc; lo = k - 1; hi = 0 })

let rec sum_short c = function
  | LNil -> c
  | LCons { next; lo; hi = _ } -> sum_short (c + lo) next

let long_list n m =
  let st = rng 1 in
  let kept = ref LNil in
  for _ = 1 to n do
    let v = draw st in
    kept := LCons { next = !kept;
                    lo = Int64.to_int (Int64.logand v 0xFFFFFFFFL);
                    hi = Int64.to_int (Int64.shift_right_logical v 32) }
  done;
  let c = ref 0 in
  for _ = 1 to m do c := !c + sum_short 0 (short_list (Sys.opaque_identity 10) LNil) done;
  Int64.add (Int64.of_int !c) (sum_cells (Sys.opaque_identity !kept))

(* The same with values that are ints. *)
type small = SNil | SCons of { next : small; value : int }

let rec sum_small c = function
  | SNil -> c
  | SCons { next; value } -> sum_small (c + value) next

let rec short_small k acc =
  if k = 0 then acc else short_small (k - 1) (SCons { next = acc; value = k - 1 })

(* A loop: a recursive function would box the sum at each cell. *)
let sum_kept l =
  let c = ref 0L and p = ref l in
  let continue = ref true in
  while !continue do
    match !p with
    | SNil -> continue := false
    | SCons { next; value } ->
      c := Int64.add !c (Int64.of_int value);
      p := next
  done;
  !c

let long_list_of_ints n m bits =
  let st = rng 1 in
  let kept = ref SNil in
  for _ = 1 to n do
    let value = Int64.to_int (Int64.shift_right_logical (draw st) (64 - bits)) in
    kept := SCons { next = !kept; value }
  done;
  let c = ref 0 in
  for _ = 1 to m do c := !c + sum_small 0 (short_small (Sys.opaque_identity 10) SNil) done;
  Int64.add (Int64.of_int !c) (sum_kept (Sys.opaque_identity !kept))

(* ---------------------------------------------------------------- mut_array *)
let mut_array n u =
  let st = rng 2 in
  let a = Array.make n (Int64.of_int (Sys.opaque_identity 0)) in
  for k = 0 to n - 1 do a.(k) <- Int64.of_int k done;      (* a boxed Int64 is the fresh box *)
  for _ = 1 to u do
    let idx = urem (draw st) n in
    let v = draw st in
    a.(idx) <- v
  done;
  let c = ref 0L in
  for k = 0 to n - 1 do c := Int64.add !c a.(k) done;
  !c

(* ---------------------------------------------------------------- hash_churn *)
type entry = ENil | Entry of { key : int; bytes : Bytes.t; mutable next : entry }

let hash_churn b kk u =
  let st = rng 3 in
  let heads = Array.make b ENil in
  (* true when the key was found behind the entry and unlinked *)
  let rec unlink key prev = match prev with
    | ENil -> false
    | Entry p ->
      (match p.next with
       | ENil -> false
       | Entry e when e.key = key -> p.next <- e.next; true
       | Entry _ as nx -> unlink key nx) in
  for _ = 1 to u do
    let key = urem (draw st) kk in
    let bkt = urem (mix key) b in
    let h = heads.(bkt) in
    match h with
    | Entry e when e.key = key -> heads.(bkt) <- e.next
    | _ ->
      if not (unlink key h) then
        heads.(bkt) <-
          Entry { key; bytes = Bytes.make (16 + key mod 48) (Char.unsafe_chr (key land 255)); next = h }
  done;
  let rec chain c = function
    | ENil -> c
    | Entry { key; bytes; next } ->
      chain (c + key + Bytes.length bytes + Char.code (Bytes.get bytes 0)) next in
  Int64.of_int (Array.fold_left chain 0 heads)

(* ---------------------------------------------------------------- message_window *)
(* priority: the top 63 bits of mix(key), order-preserving into a signed OCaml int *)
type treap = Nil | Node of { left : treap; right : treap; msg : Bytes.t; key : int; prio : int }

let rec split k = function
  | Nil -> (Nil, Nil)
  | Node n ->
    if n.key < k then
      let (a, b) = split k n.right in
      (Node { n with right = a }, b)
    else
      let (a, b) = split k n.left in
      (a, Node { n with left = b })

let rec insert key prio msg t = match t with
  | Nil -> Node { left = Nil; right = Nil; msg; key; prio }
  | Node n ->
    if prio > n.prio then
      let (left, right) = split key t in
      Node { left; right; msg; key; prio }
    else if key < n.key then Node { n with left = insert key prio msg n.left }
    else Node { n with right = insert key prio msg n.right }

let rec delete_min = function
  | Nil -> Nil
  | Node { left = Nil; right; _ } -> right
  | Node n -> Node { n with left = delete_min n.left }

let prio_of k = Int64.to_int (Int64.shift_right (Int64.logxor (mix k) Int64.min_int) 1)

let message_window w m p =
  let t = ref Nil and size = ref 0 in
  for i = 0 to m - 1 do
    t := insert i (prio_of i) (Bytes.make p (Char.unsafe_chr (i land 255))) !t;
    incr size;
    if !size > w then begin t := delete_min !t; decr size end
  done;
  let rec total c = function
    | Nil -> c
    | Node n -> total (total (c + n.key + Char.code (Bytes.get n.msg 0)) n.left) n.right in
  Int64.of_int (total 0 !t)

(* ---------------------------------------------------------------- ocaml_gc *)
type item = INil | Item of { payload : Bytes.t; next : item }

let leaf = 128

let rec length c = function
  | INil -> c
  | Item { next; payload = _ } -> length (c + 1) next

(* Ends the program if the counters contradict each other. *)
let check_stat () =
  let s = Gc.stat () and q = Gc.quick_stat () in
  let minor, promoted, major = Gc.counters () in
  let ok =
    s.live_words + s.free_words + s.fragments = s.heap_words
    && s.top_heap_words >= s.heap_words && s.largest_free <= s.free_words
    && q.live_words = 0 && q.top_heap_words >= s.top_heap_words
    && minor >= s.minor_words && promoted <= minor && promoted <= major
    && Gc.allocated_bytes () >= 8. *. (minor +. major -. promoted)
    && Gc.get_minor_free () >= 0 && Gc.get_bucket 0 >= 0 && Gc.get_credit () >= 0 in
  if not ok then begin prerr_endline "ocaml_gc: the counters contradict each other"; exit 3 end

let requests =
  [| Gc.minor; (fun () -> ignore (Gc.major_slice 0)); Gc.major; (fun () -> ignore (Gc.major_slice 10_000));
     Gc.full_major; Gc.minor; Gc.compact; Gc.major |]

let ocaml_gc slots updates =
  (* An array has a word more than its slots here: ours have their length. *)
  let table = Array.make ((slots + leaf - 1) / leaf + 1) [||] in
  for l = 0 to Array.length table - 2 do table.(l) <- Array.make (leaf + 1) INil done;
  let st = rng 6 in
  let made = ref 0 in
  let put slot =
    let d = draw st in
    let top = Int64.to_int (Int64.shift_right_logical d 4) in
    let words = 1 + top mod (if Int64.to_int d land 15 = 0 then 192 else 16) in
    let payload = Bytes.make (8 * words) (Char.unsafe_chr (!made land 255)) in
    incr made;
    let l = table.(slot / leaf) in
    let chain = l.(slot mod leaf) in
    l.(slot mod leaf) <- Item { payload; next = if length 0 chain < 3 then chain else INil } in
  for slot = 0 to slots - 1 do put slot done;
  Array.iter
    (fun request ->
      for _ = 1 to updates do put (urem (draw st) slots) done;
      request ())
    requests;
  (* At the end, since it allocates what ours does not. *)
  check_stat ();
  let rec total c = function
    | INil -> c
    | Item { payload; next } -> total (c + Bytes.length payload + Char.code (Bytes.get payload 0)) next in
  Int64.of_int (Array.fold_left (Array.fold_left total) 0 table)

(* ---------------------------------------------------------------- ephemeron_chain *)
type ebox = { value : int }

let ephemeron_chain n rounds =
  let module E = Ephemeron.K1 in
  let chain = Array.init n (fun _ -> E.create ()) in
  let first = ref { value = Sys.opaque_identity n } in
  for k = n - 1 downto 0 do
    let key = { value = k } in
    E.set_key chain.(k) key;
    E.set_data chain.(k) !first;
    first := key
  done;
  let rec follow k sum expected =
    if k = n then sum else
    match E.get_key chain.(k), E.get_data chain.(k) with
    | Some key, Some value when k = 0 || key == expected -> follow (k + 1) (sum + value.value) value
    | _ -> sum in
  let sum = ref 0 in
  for _ = 1 to rounds do
    Gc.full_major ();
    sum := follow 0 !sum !first;
    (* It must not die before. *)
    ignore (Sys.opaque_identity !first)
  done;
  first := { value = 0 };
  Gc.full_major ();
  Array.iter (fun e -> if not (E.check_key e) then incr sum) chain;
  Int64.of_int !sum

(* ---------------------------------------------------------------- hash_cons *)
type term = TmNil | Term of { left : term; right : term; hash : int; depth : int }

module Terms = Weak.Make (struct
  type t = term
  let equal a b = match a, b with
    | Term a, Term b -> a.hash = b.hash && a.left == b.left && a.right == b.right
    | _ -> false
  let hash = function TmNil -> 0 | Term t -> t.hash
end)

let hash_cons n u =
  let hash k = Int64.to_int (Int64.shift_right_logical (mix k) 4) in
  let terms = Terms.create 1000 in
  let leaf k = Terms.merge terms (Term { left = TmNil; right = TmNil; hash = hash k; depth = 0 }) in
  let slots = Array.init n (fun k -> leaf (k mod 1000)) in
  let st = rng 7 in
  for _ = 1 to u do
    let i = urem (draw st) n in
    let j = urem (draw st) n in
    let k = urem (draw st) n in
    let d = urem (draw st) 1000 in
    slots.(k) <-
      (match slots.(i), slots.(j) with
       | Term l, Term r when 1 + max l.depth r.depth <= 4 ->
         let hash = hash ((l.hash + 3 * r.hash) land (1 lsl 60 - 1)) in
         Terms.merge terms
           (Term { left = slots.(i); right = slots.(j); hash; depth = 1 + max l.depth r.depth })
       | _ -> leaf d)
  done;
  let sum = ref 0L in
  Array.iter
    (fun term ->
      match term with
      | TmNil -> ()
      | Term t ->
        let found = match Terms.find_opt terms term with Some other when other == term -> 1 | _ -> 0 in
        sum := Int64.add !sum (Int64.of_int (t.hash + found)))
    slots;
  !sum

(* ---------------------------------------------------------------- main *)
(* Empties the minor heap by a minor collection: the runtime has allocated there, which would shift
   all collections that follow. As a new size does it, no slice comes with it, and the next collection
   is due when the minor heap is full, as at the start. *)
let empty_minor_heap () =
  let now = Gc.get () in
  let other = { now with minor_heap_size = now.minor_heap_size + 512 } in
  Gc.set other;
  Gc.set now

let () =
  let run w c = Printf.printf "%s checksum=%Lu\n" w c in
  match Array.to_list Sys.argv with
  | _ :: w :: args ->
    let args = List.map int_of_string args in
    empty_minor_heap ();
    (match w, args with
     | "binary_trees", [n] -> run w (binary_trees n)
     | "gcbench", [s; l; a] -> run w (gcbench s l a)
     | "long_list", [n; m] | "long_list", [n; m; 64] -> run w (long_list n m)
     | "long_list", [n; m; bits] when bits >= 1 && bits <= 62 -> run w (long_list_of_ints n m bits)
     | "mut_array", [n; u] -> run w (mut_array n u)
     | "hash_churn", [b; k; u] -> run w (hash_churn b k u)
     | "message_window", [ww; m; p] -> run w (message_window ww m p)
     | "ocaml_gc", [n; u] -> run w (ocaml_gc n u)
     | "ephemeron_chain", [n; rounds] -> run w (ephemeron_chain n rounds)
     | "hash_cons", [n; u] -> run w (hash_cons n u)
     | _ -> prerr_endline "usage: peers WORKLOAD ARGS..."; exit 1)
  | _ -> prerr_endline "usage: peers WORKLOAD ARGS..."; exit 1
