(* The adjoint of a view with masks, reversed axes and windows.

   What: a mask keeps the cotangent inside it (masked_adjoint). A reversed axis reverses the cotangent
         (reversed_adjoint). An axis whose step divides a larger one is two axes, the last part of the first padded with
         zeros (split_adjoint). So windows of k elements every r elements have ceil(k / r) terms (window_adjoint).
   Why:  these are the steps of engine/grad/adjoint.cpp before and beside the nested axes and the fibre.
   Each is about the axis that comes first; axes_reordered brings any axis there. *)
Require Import ZArith Lia List Bool.
From Oriel Require Import mixed_radix masked_view affine view_adjoint adjoint_nesting.
Import ListNotations.
Open Scope Z_scope.

Section Windows.
Context {R : numbers}.

(* ---- masks *)

Definition widths (l : list axis) := map (fun a => hi a - lo a) l.

(* an index of the mask's box as one of the view *)
Fixpoint placed_in (l : list axis) (i : list Z) : list Z :=
  match l, i with
  | a :: l, k :: i => (lo a + k) :: placed_in l i
  | _, _ => []
  end.

Lemma placed_valid l : forall o i, box (widths l) i ->
  at_index o l (placed_in l i) = strided (o + dot (map stride l) (map lo l)) (map stride l) i.
Proof.
  unfold strided. induction l as [|a l IH]; intros o [|k i]; simpl; try contradiction; [intros _; f_equal; lia|].
  intros [Hk B]. rewrite valid_true, IH by (auto; lia). simpl. f_equal. ring.
Qed.

Lemma valid_placed l : forall o i v, box (shape l) i -> at_index o l i = Some v ->
  exists x, box (widths l) x /\ i = placed_in l x.
Proof.
  induction l as [|a l IH]; intros o [|k i] v; simpl; try contradiction; [exists []; simpl; auto|].
  intros [Hk B]. destruct (valid a k) eqn:V; [|discriminate]. apply valid_iff in V.
  destruct (at_index o l i) as [w|] eqn:E; [|discriminate]. intros _.
  destruct (IH o i w B E) as (x & Bx & ->). exists (k - lo a :: x). simpl. split; [split; auto; lia|]. f_equal. lia.
Qed.

Lemma placed_box l : Forall view_axis l -> forall i, box (widths l) i -> box (shape l) (placed_in l i).
Proof.
  induction 1 as [|a l [A B] _ IH]; intros [|k i]; simpl; try contradiction; auto. intros [Hk Bi]. split; auto. lia.
Qed.

Lemma placed_once l : forall i j, box (widths l) i -> box (widths l) j -> placed_in l i = placed_in l j -> i = j.
Proof.
  induction l as [|a l IH]; intros [|k i] [|k' j]; simpl; try contradiction; auto.
  intros [_ Bi] [_ Bj] [= E F]. f_equal; [lia | auto].
Qed.

Theorem masked_adjoint o l (g : list Z -> R) p : Forall view_axis l ->
  adjoint (indices (shape l)) (at_index o l) g p =
  adjoint (indices (widths l)) (strided (o + dot (map stride l) (map lo l)) (map stride l))
    (fun i => g (placed_in l i)) p.
Proof.
  intro V. rewrite (adjoint_reindexed (placed_in l) _ (indices (widths l))); try apply indices_once.
  - apply adjoint_ext. intros i Hi. apply in_indices in Hi. split; auto. apply placed_valid, Hi.
  - intros i. rewrite !in_indices. apply placed_box, V.
  - intros i j. rewrite !in_indices. apply placed_once.
  - intros i Hi Not. left. apply in_indices in Hi. destruct (at_index o l i) as [v|] eqn:E; auto. destruct Not.
    destruct (valid_placed l o i v Hi E) as (x & Bx & ->). apply in_map, in_indices, Bx.
Qed.

(* ---- reversed axes *)

Theorem reversed_adjoint o a t n e (g : list Z -> R) p :
  adjoint (indices (n :: e)) (strided o (- a :: t)) g p =
  adjoint (indices (n :: e)) (strided (o - a * (n - 1)) (a :: t))
    (fun i => match i with k :: x => g (n - 1 - k :: x) | [] => zero end) p.
Proof.
  unfold adjoint. rewrite !total_cons. rewrite (total_reindexed (fun k => n - 1 - k) _ (range n)).
  - apply total_ext. intros k _. apply total_ext. intros x _. unfold strided. simpl.
    replace (o - a * (n - 1) + (a * k + dot t x)) with (o + (- a * (n - 1 - k) + dot t x)) by ring. reflexivity.
  - apply range_once.
  - apply range_once.
  - intros k. rewrite !in_range. lia.
  - intros. lia.
  - intros k Hk Not. destruct Not. apply in_map_iff. exists (n - 1 - k). rewrite in_range in *. lia.
Qed.

(* ---- an axis in parts *)

(* Index k is part k / r and place k mod r. The last part may have places without an index. *)
Lemma total_split n parts r (f : Z -> R) : 0 < r -> n <= parts * r ->
  total (range n) f =
  total (range parts) (fun q => total (range r) (fun c => if r * q + c <? n then f (r * q + c) else zero)).
Proof.
  intros Hr Hn.
  set (F := fun i => match i with [q; c] => if r * q + c <? n then f (r * q + c) else zero | _ => zero end).
  transitivity (total (indices [parts; r]) F).
  - rewrite (total_reindexed (fun k => [k / r; k mod r]) _ (range n));
      auto using indices_once, range_once.
    + apply total_ext. intros k Hk. apply in_range in Hk. unfold F. rewrite ravel_unravel by lia.
      destruct (Z.ltb_spec k n); [reflexivity | lia].
    + intros k. rewrite in_range, in_indices. simpl. intro Hk.
      split; [split; [apply Z.div_pos | apply Z.div_lt_upper_bound]; lia|]. split; auto. apply Z.mod_pos_bound. lia.
    + intros i j _ _ [= Q M]. rewrite <- (ravel_unravel i r), <- (ravel_unravel j r), Q, M by lia. reflexivity.
    + intros i Hi Not. apply in_indices in Hi. destruct i as [|q [|c [|]]]; auto. simpl in Hi. unfold F.
      destruct (Z.ltb_spec (r * q + c) n); auto. destruct Not. apply in_map_iff. exists (r * q + c).
      destruct (unravel_ravel q c r) as [-> ->]; [lia|]. rewrite in_range. split; auto. nia.
  - rewrite total_cons. apply total_ext. intros q _. rewrite total_cons. apply total_ext. intros c _. apply total_nil.
Qed.

(* the cotangent by parts and places, zero where there is no index *)
Definition in_parts (n r : Z) (g : list Z -> R) (i : list Z) : R :=
  match i with
  | q :: c :: x => if r * q + c <? n then g (r * q + c :: x) else zero
  | _ => zero
  end.

Theorem split_adjoint o a t n e parts r (g : list Z -> R) p : 0 < r -> n <= parts * r ->
  adjoint (indices (n :: e)) (strided o (a :: t)) g p =
  adjoint (indices (parts :: r :: e)) (strided o (a * r :: a :: t)) (in_parts n r g) p.
Proof.
  intros Hr Hn. unfold adjoint. rewrite !total_cons, (total_split n parts r) by auto. apply total_ext. intros q _.
  rewrite total_cons. apply total_ext. intros c _. simpl in_parts. destruct (r * q + c <? n).
  - apply total_ext. intros x _. unfold strided. simpl. rewrite Z.mul_add_distr_l.
    replace (o + (a * (r * q) + a * c + dot t x)) with (o + (a * r * q + (a * c + dot t x))) by ring. reflexivity.
  - symmetry. apply total_zero. intros. apply shown_zero.
Qed.

(* ---- windows *)

(* Windows of k elements with distance a between them (a = 1: neighbours), one window every r of these distances. The
   adjoint has a term for each part of a window that is as long as the distance of two windows. *)
Theorem window_adjoint o a r m k (g : list Z -> R) p : 0 < a -> 0 < r ->
  adjoint (indices [m; k]) (strided o [a * r; a]) g p =
  total (range ((k + r - 1) / r)) (fun q =>
    match greedy [a * r; a] [m; r] (p - a * r * q - o) with
    | Some [x; c] => if r * q + c <? k then g [x; r * q + c] else zero
    | _ => zero
    end).
Proof.
  intros Ha Hr. set (parts := (k + r - 1) / r).
  assert (Hk : k <= parts * r) by
    (unfold parts; pose proof (Z.div_mod (k + r - 1) r); pose proof (Z.mod_pos_bound (k + r - 1) r); lia).
  set (g' := fun q i => match i with [x; c] => if r * q + c <? k then g [x; r * q + c] else zero | _ => zero end).
  transitivity (total (range parts) (fun q => adjoint (indices [m; r]) (strided o [a * r; a]) (g' q) (p - a * r * q))).
  - unfold adjoint. rewrite total_cons.
    rewrite (total_ext _ _ (fun x => total (range parts) (fun q => total (indices [r]) (fun i =>
      where_shown (strided o [a * r; a] (x :: i)) (p - a * r * q) (g' q (x :: i)))))).
    + rewrite total_swap. apply total_ext. intros q _. rewrite total_cons. reflexivity.
    + intros x _. rewrite total_cons, (total_split k parts r) by auto. apply total_ext. intros q _.
      rewrite total_cons. apply total_ext. intros c _. rewrite !total_nil. simpl g'. destruct (r * q + c <? k).
      * unfold strided, where_shown. simpl.
        destruct (same (o + (a * r * x + (a * (r * q + c) + 0))) p) as [E|E],
          (same (o + (a * r * x + (a * c + 0))) (p - a * r * q)) as [E'|E']; auto; exfalso; lia.
      * symmetry. apply shown_zero.
  - apply total_ext. intros q _. rewrite nested_adjoint by (simpl; nia).
    destruct (greedy _ _ _) as [[|x [|c [|]]]|]; reflexivity.
Qed.

(* Neighbouring elements: quotient and remainder of the element alone choose the window and the place in it. *)
Corollary unit_window_adjoint o r m k (g : list Z -> R) p : 0 < r ->
  adjoint (indices [m; k]) (strided o [r; 1]) g p =
  total (range ((k + r - 1) / r)) (fun q =>
    let x := (p - o) / r - q in let c := r * q + (p - o) mod r in
    if (0 <=? x) && (x <? m) && (c <? k) then g [x; c] else zero).
Proof.
  intro Hr. pose proof (window_adjoint o 1 r m k g p ltac:(lia) Hr) as W. rewrite Z.mul_1_l in W. rewrite W.
  apply total_ext. intros q _. pose proof (Z.mod_pos_bound (p - o) r Hr) as B.
  assert (Q : (p - r * q - o) / r = (p - o) / r - q).
  { replace (p - r * q - o) with (p - o + (- q) * r) by ring. rewrite Z.div_add by lia. ring. }
  assert (M : (p - r * q - o) mod r = (p - o) mod r).
  { replace (p - r * q - o) with (p - o + (- q) * r) by ring. apply Z.mod_add. lia. }
  cbn [greedy]. rewrite Q, M, Z.div_1_r, Z.mod_1_r. cbv zeta.
  destruct (Z.leb_spec 0 ((p - o) / r - q)), (Z.ltb_spec ((p - o) / r - q) m); cbn [andb]; auto.
  destruct (Z.leb_spec 0 ((p - o) mod r)), (Z.ltb_spec ((p - o) mod r) r); try lia. cbn. reflexivity.
Qed.
End Windows.
