(* The three ways to merge two symbolic views, as programs.

   What: `merge_affine`, `merge_reshape` and `merge_carries` are the functions of these names in
         engine/view/merging/outer_walk.hpp and merge_symbolic.cpp. Where the trace of one holds, the view that it gives
         is the stack.
   Why:  `merging` in merge_guards.v chooses among them. *)
Require Import ZArith Lia List Bool.
From Oriel Require Import mixed_radix carry_form masked_view canonical_unique canonicalize guards flat_form asking.
From Oriel Require Import symbolic_view symbolic_blocks symbolic_interval symbolic_reshape merge_walk merge_order.
From Oriel Require Import merge_value merge_box.
Import ListNotations.
Open Scope Z_scope.

Section Symbolic.
Context {assignment : Type}.
Notation program := (program assignment).
Notation size := (assignment -> Z).
Notation saxis := (@saxis assignment).
Notation sview := (@sview assignment).
Notation mover := (@mover assignment).
Notation found := (@found assignment).

(* `known n k`: n is k for all values in range that satisfy the guards. It chooses forms and records nothing. *)
Variable known : size -> Z -> bool.

Section Run.
Variable h : assignment.

Definition some_view (v : sview) : program (option sview) := bind (canonical_form h known v) (fun v => Ret (Some v)).

Definition merged_invalid (l : list saxis) : option sview :=
  match l with [] => None | _ => Some (invalid l) end.

(* ---- the inner view is one affine map *)

Definition one_map (bs : list saxis) : program bool :=
  match bs with
  | [] => Ret true
  | [b] => given h (full_axis b)
  | _ => Ret false
  end.

Definition scaled (o scale : size) (v : sview) := SView (fun x => o x + scale x * s_offset v x)
  (map (fun a => SAxis (s_extent a) (fun x => s_stride a x * scale x) (s_lo a) (s_hi a)) (s_axes v)).
Definition merge_affine (outer b : sview) : program (option sview) :=
  some_view (scaled (s_offset b) (match s_axes b with [] => number 0 | a :: _ => s_stride a end) outer).

(* ---- the outer view is a reshape with movements on top *)

Definition merge_reshape (outer b : sview) (w : list (option mover)) : program (option sview) :=
  let target := map width (sorted h (movers w)) in
  bind (reshaping h target (s_axes b) target) (fun r => match r with
  | None => Ret None
  | Some r => let (o, l) := placed (s_axes outer) w (unsorted h (movers w) r) in
              some_view (SView (fun x => s_offset b x + o x) l)
  end).

(* ---- the general case *)

Fixpoint no_zero (bs : list saxis) : program bool :=
  match bs with
  | [] => Ret true
  | b :: bs => Ask (is (s_extent b) 0) (fun zero => if zero then Ret false else no_zero bs)
  end.

Fixpoint founds (l : list mover) (slopes : list size) : list found :=
  match l, slopes with
  | m :: l, s :: slopes => Found s (start m) (fun x => start m x + width m x) :: founds l slopes
  | _, _ => []
  end.
Fixpoint at_starts (l : list mover) (slopes : list size) : size :=
  match l, slopes with
  | m :: l, s :: slopes => fun x => s x * start m x + at_starts l slopes x
  | _, _ => number 0
  end.

Definition merge_carries (outer b : sview) (base : size) (w : list (option mover)) : program (option sview) :=
  bind (no_zero (s_axes b)) (fun ok => if negb ok then Ret None else
  bind (cut_all h known (s_axes b) (number 1) base (movers w)) (fun c => match c with
  | Undecided => Ret None
  | Nothing => Ret (merged_invalid (s_axes outer))
  | Box base l =>
    bind (gather h (s_axes b) (number 1) (number 0) base l (s_offset b) (map (fun _ => number 0) l)) (fun g => match g
      with
    | None => Ret None
    | Some (o, slopes) => let (po, pv) := placed (s_axes outer) w (founds l slopes) in
                          some_view (SView (fun x => o x - at_starts l slopes x + po x) pv)
    end)
  end)).

(* what the walk has to fill *)
Definition count_of (bs : list saxis) : size := fun x => numel (axes_at x bs).

(* ---- at one assignment *)

Variable x : assignment.
Hypothesis known_right : forall n k, known n k = true -> n x = k.

Definition stack (outer inner : sview) (i : list Z) : option Z :=
  match view_at x outer i with Some n => flat_at x inner n | None => None end.

(* The view has the shape of l, and is f at each index where D holds. *)
Definition answers (l : list saxis) (D : list Z -> Prop) (f : list Z -> option Z) (r : option sview) : Prop :=
  match r with
  | None => True
  | Some v => shape (axes_at x (s_axes v)) = shape (axes_at x l) /\
      forall i, box (shape (axes_at x l)) i -> D i -> view_at x v i = f i
  end.

Lemma some_view_right v l (D : list Z -> Prop) f : shape (axes_at x (s_axes v)) = shape (axes_at x l) ->
  (forall i, box (shape (axes_at x l)) i -> D i -> view_at x v i = f i) -> ensures h x (some_view v) (answers l D f).
Proof.
  intros S M. unfold some_view. by_bind. apply (ensures_weaken _ _ _ _ _ (canonical_right h known x known_right v)).
  intros v' [S' M']. by_ret. split; [congruence|]. intros i B Di. rewrite <- (M i B Di). apply M'. rewrite S. exact B.
Qed.

Lemma merged_invalid_right l (D : list Z -> Prop) f : (forall i, box (shape (axes_at x l)) i -> D i -> f i = None) ->
  answers l D f (merged_invalid l).
Proof.
  intro N. destruct l as [|a l]; [exact I|]. simpl. split.
  - simpl. f_equal. apply extent_shape. reflexivity.
  - intros i B Di. rewrite (N i B Di). apply invalid_index; [discriminate | exact B].
Qed.

Lemma inside_found_dec (r : list found) : forall y, inside_found x r y \/ ~ inside_found x r y.
Proof.
  induction r as [|f r IH]; intros [|j y]; simpl; try tauto. destruct (IH y); [|tauto].
  destruct (Z_le_dec (from f x) j), (Z_lt_dec j (to f x)); tauto.
Qed.

Lemma one_map_right b : ensures h x (one_map (s_axes b)) (fun affine => affine = true ->
  forall n, 0 <= n < numel (axes_at x (s_axes b)) ->
  flat_at x b n = Some (s_offset b x + (match s_axes b with [] => number 0 | a :: _ => s_stride a end) x * n)).
Proof.
  unfold one_map, flat_at. destruct (s_axes b) as [|a [|]]; [by_ret | | by_ret; discriminate].
  - intros _ n Hn. simpl. unfold number. f_equal. ring.
  - apply ensures_given; [|discriminate]. intros _ F _ n Hn. unfold full_axis, full in F. simpl in Hn |- *.
    rewrite andb_true_iff, !Z.eqb_eq in F. simpl in F. rewrite Z.mul_1_r in Hn. rewrite Z.mod_small by lia.
    rewrite valid_true by (simpl; lia). simpl. f_equal. ring.
Qed.

Lemma scaled_index o scale l : forall i, shape (axes_at x (s_axes (scaled o scale (SView (number 0) l)))) = shape
  (axes_at x l) /\
  forall p, at_index (o x + scale x * p) (axes_at x (s_axes (scaled o scale (SView (number 0) l)))) i =
  match at_index p (axes_at x l) i with Some v => Some (o x + scale x * v) | None => None end.
Proof.
  intro i. split; [apply extent_shape; reflexivity|]. revert i. induction l as [|a l IH]; intros [|j i] p; auto.
  simpl in *. rewrite IH. change (valid (axis_at x _) j) with (valid (axis_at x a) j).
  destruct (valid (axis_at x a) j); auto. destruct (at_index p (axes_at x l) i); simpl; auto. f_equal. ring.
Qed.

Lemma no_zero_right bs : ensures h x (no_zero bs) (fun ok => ok = true -> Forall (fun a => s_extent a x <> 0) bs).
Proof.
  induction bs as [|a bs IH]; simpl; [by_ret; constructor|]. apply ensures_ask; intros zero _ Z0.
  destruct zero; [by_ret; discriminate|]. apply (ensures_weaken _ _ _ _ _ IH). intros ok F E.
  constructor; [apply Z.eqb_neq, Z0 | apply F, E].
Qed.

Lemma founds_inside l : forall slopes y, length slopes = length l ->
  (inside_found x (founds l slopes) y <-> inside x l y).
Proof.
  induction l as [|m l IH]; intros [|s slopes] [|j y] L; simpl in *; try discriminate; try tauto.
  rewrite IH by congruence. tauto.
Qed.

Lemma founds_value l : forall slopes y, length slopes = length l -> inside x l y ->
  found_value x (founds l slopes) y = linear x l slopes y + at_starts l slopes x.
Proof.
  induction l as [|m l IH]; intros [|s slopes] [|j y] L I; simpl in *; try discriminate; try contradiction; auto.
  rewrite IH by (tauto || congruence). ring.
Qed.

Lemma linear_zero l : forall y, linear x l (map (fun _ => number 0) l) y = 0.
Proof. induction l as [|m l IH]; intros [|j y]; simpl; auto. Qed.

Section Stack.
Variables outer inner b : sview.
Hypothesis V : Forall view_axis (axes_at x (s_axes outer)).
Hypothesis Vb : Forall view_axis (axes_at x (s_axes b)).
Hypothesis Blocks : forall n, 0 <= n < numel (axes_at x (s_axes b)) -> flat_at x inner n = flat_at x b n.

Notation axes := (s_axes outer).
Notation Stack := (stack outer inner).

(* The index has a position in the inner view, or none. *)
Definition in_range (i : list Z) := forall n, view_at x outer i = Some n -> 0 <= n < numel (axes_at x (s_axes b)).

Lemma merge_affine_right :
  (forall n, 0 <= n < numel (axes_at x (s_axes b)) ->
   flat_at x b n = Some (s_offset b x + (match s_axes b with [] => number 0 | a :: _ => s_stride a end) x * n)) ->
  ensures h x (merge_affine outer b) (answers axes in_range Stack).
Proof.
  intro A. unfold merge_affine. set (scale := match s_axes b with [] => _ | a :: _ => _ end) in *.
  apply some_view_right.
  - apply extent_shape. reflexivity.
  - intros i B Di. unfold view_at. destruct (scaled_index (s_offset b) scale axes i) as [_ S]. simpl in *. rewrite S.
    unfold stack. destruct (view_at x outer i) as [n|] eqn:N; unfold view_at in N; rewrite N; auto.
    pose proof (Di n N) as R. rewrite Blocks, A by exact R. reflexivity.
Qed.

(* what was found for the walk is the stack, so the placed view is *)
Lemma placed_right base w r c o : walk_over x (s_offset outer) axes base w -> ranges_of x axes w ->
  Forall2 (within_walk x) r (movers w) ->
  (forall y, inside x (movers w) y -> 0 <= base x + walked x (movers w) y < numel (axes_at x (s_axes b)) ->
    (inside_found x r y -> flat_at x b (base x + walked x (movers w) y) = Some (c x + found_value x r y)) /\
    (~ inside_found x r y -> flat_at x b (base x + walked x (movers w) y) = None)) ->
  o x = c x + fst (placed axes w r) x ->
  ensures h x (some_view (SView o (snd (placed axes w r)))) (answers axes in_range Stack).
Proof.
  intros (L & _ & _ & W) R F Value O. assert (Lr : length r = length (movers w)).
  { clear -F. induction F; simpl; auto. }
  apply some_view_right; [apply placed_shape; auto|]. intros i B Di. pose proof (box_axes x _ i B) as Li.
  unfold view_at. simpl. rewrite O. unfold stack, view_at.
  destruct (at_index (s_offset outer x) (axes_at x axes) i) as [n|] eqn:N.
  - pose proof (Di n N) as Hn. destruct (W i n Li N) as [E I]. rewrite (Blocks n Hn).
    destruct (placed_inside x axes w r i (c x) _ _ L Lr Li N) as [Y No]. rewrite E in Hn |- *.
    destruct (Value _ I Hn) as [Vy Vn]. destruct (inside_found_dec r (coordinates x axes w i)) as [D|D].
    + rewrite (Y D), (Vy D). reflexivity.
    + rewrite (No D), (Vn D). reflexivity.
  - apply (placed_outside x axes w r i _ _ L Li R F N).
Qed.

Lemma merge_reshape_right base w : walk_over x (s_offset outer) axes base w -> ranges_of x axes w ->
  row_major h base (count_of (s_axes b)) (movers w) x = true -> Forall (certain h x) (s_axes b) ->
  sizes_positive h (map width (movers w)) -> sizes_positive x (map width (movers w)) ->
  ensures h x (merge_reshape outer b w) (answers axes in_range Stack).
Proof.
  intros W R M C Ph Px. unfold merge_reshape. set (target := map width (sorted h (movers w))).
  assert (P : forall z, sizes_positive z (map width (movers w)) -> sizes_positive z target).
  { intros z H. unfold target, sizes_positive, sorted in *. rewrite !Forall_map in *.
    apply (forall_permutation _ _ _ (order_permutation h (movers w))).
    rewrite <- (nth_seq no_mover (movers w)) in H at 1. rewrite Forall_map in H. exact H. }
  by_bind. apply (ensures_weaken _ _ _ _ _
    (reshaping_right h x _ C Vb target target (P h Ph) (P x Px) (incl_refl _))).
  intros [r|] G; [|by_ret; exact I]. destruct G as [B G].
  assert (Lr : length r = length (movers w)).
  { transitivity (length target); [clear -B; induction B; simpl; auto|]. unfold target, sorted. rewrite !map_length.
    rewrite (Permutation.Permutation_length (order_permutation h (movers w))). apply seq_length. }
  pose proof (placed_right base w (unsorted h (movers w) r) (s_offset b)) as Q. destruct (placed _ _ _) as [po pv].
  apply (Q _ W R); [apply unsorted_bounds, B | | reflexivity]. intros y I Hn. destruct W as (_ & S & _).
  destruct (row_major_right h x _ _ _ y M S I) as [By E]. rewrite E. unfold flat_at.
  destruct (unsorted_found h x (movers w) r y (inside_length x _ _ I) Lr) as [-> Inside].
  destruct (G _ By (s_offset b x)) as [Y N]. split; intro X; [apply Y, Inside, X | apply N; tauto].
Qed.

Lemma merge_carries_right base w : walk_over x (s_offset outer) axes base w -> ranges_of x axes w ->
  ensures h x (merge_carries outer b base w) (answers axes in_range Stack).
Proof.
  intros W R. unfold merge_carries. by_bind. apply (ensures_weaken _ _ _ _ _ (no_zero_right _)).
  intros [] Z; [|by_ret; exact I]. specialize (Z eq_refl). cbn [negb].
  assert (Pos : Forall (fun a => 1 <= extent a) (axes_at x (s_axes b))).
  { clear -Vb Z. induction (s_axes b) as [|a l IH]; simpl in *; constructor; inversion Vb; inversion Z; subst; auto.
    unfold view_axis in *. simpl in *. lia. }
  assert (Pos' : Forall (fun a => 0 < s_extent a x) (s_axes b)).
  { unfold axes_at in Pos. rewrite Forall_map in Pos. revert Pos. apply Forall_impl. simpl. intros. lia. }
  set (bs := s_axes b) in *. set (os := s_offset b).
  (* the blocks in flat form *)
  assert (Flat : forall n, 0 <= n < numel (axes_at x bs) ->
    (Forall (flat_form.holds n) (constraints (axes_at x bs) 1) -> flat_at x b n =
      Some (os x + sum (terms (map (fun a => (s_extent a x, s_stride a x)) bs) 1 0) n)) /\
    (~ Forall (flat_form.holds n) (constraints (axes_at x bs) 1) -> flat_at x b n = None)).
  { intros n Hn. pose proof (valid_iff_constraints (os x) _ Pos 1 n ltac:(lia)) as X. rewrite Z.div_1_r in X.
    rewrite <- X. change (flat_at x b n) with (at_flat (os x) (axes_at x bs) n).
    assert (D : map (fun a => (extent a, stride a)) (axes_at x bs) = map (fun a => (s_extent a x, s_stride a x)) bs).
    { unfold axes_at. rewrite map_map. reflexivity. }
    rewrite sum_terms; [| | lia |].
    - rewrite Z.div_1_r. destruct (at_flat _ _ n) as [v|] eqn:E; split; intro Y; auto.
      + apply value_is_plain in E. rewrite D in E. f_equal. lia.
      + destruct Y. discriminate.
      + destruct Y. reflexivity.
    - rewrite <- D. rewrite Forall_map. exact Pos.
    - enough (Q : carry_form.size (map (fun a => (s_extent a x, s_stride a x)) bs) = numel (axes_at x bs)) by (rewrite
        Q; lia).
      clear. induction bs; simpl; auto. rewrite IHbs. reflexivity. }
  by_bind. apply (ensures_weaken _ _ _ _ _ (cut_all_right h known x known_right bs Pos' (number 1) base (movers w)
    Z.lt_0_1)).
  intros [|base' l|] Cut; cbn [cut_right] in Cut; [by_ret | | by_ret; exact I].
  { apply merged_invalid_right. intros i B Di. unfold stack. destruct (view_at x outer i) as [n|] eqn:N; auto.
    pose proof (Di n N) as Hn. destruct W as (_ & _ & _ & W).
    destruct (W i n (box_axes x _ i B) N) as [-> In]. rewrite Blocks by exact Hn. apply Flat; auto. }
  pose proof (part_length _ _ _ _ _ _ Cut) as Ll. destruct Cut as (Inside & Walk & Bounds). by_bind.
  apply (ensures_weaken _ _ _ _ _ (gather_right h x bs l base' Pos' (number 1) (number 0) os
    (map (fun _ => number 0) l) Z.lt_0_1 (map_length _ _))).
  intros [[o slopes]|] G; [|by_ret; exact I]. destruct G as [Ls G].
  pose proof (placed_right base w (founds l slopes) (fun x => o x - at_starts l slopes x)) as Q.
  destruct (placed _ _ _) as [po pv]. apply (Q _ W R); [| | reflexivity]; clear Q.
  - destruct W as (_ & S & _). clear -S Bounds Ls. revert slopes Ls.
    induction Bounds as [|m' m l' l M _ IH]; intros [|s slopes] L; simpl in *; try discriminate; constructor;
      inversion S; subst; auto. unfold within_walk. simpl. lia.
  - intros y In Hn. rewrite founds_inside by exact Ls. rewrite Inside. split.
    + intros [_ P]. assert (In' : inside x l y) by (apply Inside; auto).
      rewrite (proj1 (Flat _ Hn) P). f_equal. rewrite founds_value by auto. pose proof (G y In') as X.
      rewrite linear_zero, Walk in X by (apply (inside_length x), In). unfold number in X. lia.
    + intro P. apply Flat; auto.
Qed.
End Stack.
End Run.
End Symbolic.
