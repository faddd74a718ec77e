(* Merges and reshapes of which the engine prints the same: its guards hold where the trace here holds, and there its
   view has the same numbers.

   What: each example names a program of `oriel view`, its hints, and what that prints. tests/unit/view/
         merge_examples_test.cpp runs the same programs, in the same order. The comparison is by computation, for all
         sizes in a small range.
   Why:  the programs of merge_guards.v are written by hand after the C++. This shows that they ask the same. *)
Require Import ZArith List Bool.
From Oriel Require Import guards symbolic_view merge_guards reshape_guards.
Import ListNotations.
Open Scope Z_scope.

Notation sizes := (Z * Z)%type.
Notation size := (sizes -> Z).

Definition s : size := fst.
Definition t : size := snd.

(* an axis without a mask; with the mask [lo, hi) *)
Definition whole (extent stride : size) := SAxis extent stride (number 0) extent.
Definition part (extent stride lo hi : size) := SAxis extent stride lo hi.

(* lo .. lo + count - 1, for both symbols *)
Definition every (lo : Z) (count : nat) : list sizes :=
  let one := map (fun k => lo + Z.of_nat k) (seq 0 count) in
  flat_map (fun a => map (fun b => (a, b)) one) one.

Section Compare.
Variables (range : list sizes) (hint : sizes) (guards : sizes -> bool) (printed : option (@sview sizes)).

Definition known (n : size) (k : Z) : bool := forallb (fun x => n x =? k) range.

Definition numbers (x : sizes) (v : @sview sizes) : list Z :=
  s_offset v x :: flat_map (fun a => [s_extent a x; s_stride a x; s_lo a x; s_hi a x]) (s_axes v).
Definition same_numbers (a b : list Z) : bool := if list_eq_dec Z.eq_dec a b then true else false.

Definition agree (result : option (@sview sizes) * trace sizes) : bool :=
  forallb (fun x =>
    let holds := forallb (fun g => Bool.eqb (fst g x) (snd g)) (snd result) in
    Bool.eqb holds (guards x) &&
    (negb holds || match fst result, printed with
                   | Some a, Some b => same_numbers (numbers x a) (numbers x b)
                   | None, None => true
                   | _, _ => false
                   end)) range.

Definition merge_agrees (outer inner : @sview sizes) := agree (run hint (merging known hint outer inner)).
Definition reshape_agrees (v : @sview sizes) (target : list size) := agree (run hint (reshaped known hint v target)).
End Compare.

Definition merges range hint outer inner guards printed :=
  merge_agrees range hint guards (Some printed) outer inner = true.
Definition reshapes range hint v target guards printed :=
  reshape_agrees range hint guards (Some printed) v target = true.
Definition always : sizes -> bool := fun _ => true.
Definition sized range (fits : sizes -> bool) := filter fits range.

(* In all views, as in all files here, the innermost axis comes first. *)

(* s=5,t=4 | (s,4):(t,1) | reshape 4*s                   guard: t == 4 *)
Example rows : reshapes (every 2 9) (5, 4)
  (SView (number 0) [whole (number 4) (number 1); whole s t]) [fun x => 4 * s x]
  (fun x => t x =? 4) (SView (number 0) [whole (fun x => 4 * s x) (number 1)]).
Proof. vm_compute. reflexivity. Qed.

(* s=1:0..1 | (4,1):(1,1)[1:3,0:s) | reshape 4           guard: s == 1 *)
Example dropped_axis : reshapes (every 0 2) (1, 1)
  (SView (number 0) [part (number 1) (number 1) (number 0) s; part (number 4) (number 1) (number 1) (number 3)])
  [number 4]
  (fun x => s x =? 1) (SView (number 0) [part (number 4) (number 1) (number 1) (number 3)]).
Proof. vm_compute. reflexivity. Qed.

(* s=9,t=6 | (t,s):(1,t) over (s*t):(2)                  no guard *)
Example scaled_walk : merges (every 2 9) (9, 6)
  (SView (number 0) [whole s t; whole t (number 1)]) (SView (number 0) [whole (fun x => s x * t x) (number 2)])
  always (SView (number 0) [whole s (fun x => 2 * t x); whole t (number 2)]).
Proof. vm_compute. reflexivity. Qed.

(* s=6,t=3 | (t,s):(1,t) over (s,t):(t+1,1)              no guard *)
Example turned : merges (every 2 9) (6, 3)
  (SView (number 0) [whole s t; whole t (number 1)])
  (SView (number 0) [whole t (number 1); whole s (fun x => t x + 1)])
  always (SView (number 0) [whole s (fun x => t x + 1); whole t (number 1)]).
Proof. vm_compute. reflexivity. Qed.

(* s=6,t=3 | (2,t):(t,1) over (s):(1)[0:t)               guard: 2*t == s *)
Example digits_of_a_mask : merges (sized (every 2 15) (fun x => 2 * t x <=? s x)) (6, 3)
  (SView (number 0) [whole t (number 1); whole (number 2) t]) (SView (number 0) [part s (number 1) (number 0) t])
  (fun x => 2 * t x =? s x)
  (SView (number 0) [part t (number 1) (number 0) (fun x => (t x - 1) / (s x / (2 * t x)) + 1);
                     part (number 2) (number 0) (number 0) (number 1)]).
Proof. vm_compute. reflexivity. Qed.

(* s=6,t=3 | (t):(1)+s over (4,s):(s+1,1)                guard: t - 1 < s *)
Example one_row : merges (every 2 9) (6, 3)
  (SView s [whole t (number 1)]) (SView (number 0) [whole s (number 1); whole (number 4) (fun x => s x + 1)])
  (fun x => t x - 1 <? s x) (SView (fun x => s x + 1) [whole t (number 1)]).
Proof. vm_compute. reflexivity. Qed.

(* s=6,t=3 | (4,t):(s,1) over (4,s):(9,2)                guard: 3*s + t - 1 < 4*s *)
Example columns : merges (every 2 9) (6, 3)
  (SView (number 0) [whole t (number 1); whole (number 4) s])
  (SView (number 0) [whole s (number 2); whole (number 4) (number 9)])
  (fun x => 3 * s x + t x - 1 <? 4 * s x) (SView (number 0) [whole t (number 2); whole (number 4) (number 9)]).
Proof. vm_compute. reflexivity. Qed.

(* s=9,t=3 | (8):(1) over (s):(1)[0:t)                   guards: 7 < s, t < 8 *)
Example cut_box : merges (sized (every 2 13) (fun x => t x <=? s x)) (9, 3)
  (SView (number 0) [whole (number 8) (number 1)]) (SView (number 0) [part s (number 1) (number 0) t])
  (fun x => (7 <? s x) && (t x <? 8)) (SView (number 0) [part (number 8) (number 1) (number 0) t]).
Proof. vm_compute. reflexivity. Qed.

(* s=9,t=6 | (4):(1) over (s):(1)[t:s)                   guards: s >= t, 3 < t *)
Example nothing_valid : merges (sized (every 2 13) (fun x => t x <=? s x)) (9, 6)
  (SView (number 0) [whole (number 4) (number 1)]) (SView (number 0) [part s (number 1) t s])
  (fun x => (t x <=? s x) && (3 <? t x)) (SView (number 0) [part (number 4) (number 0) (number 0) (number 0)]).
Proof. vm_compute. reflexivity. Qed.
