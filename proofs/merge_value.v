(* Theorem L on symbols: where floors of a walk are affine, and the sum of a view's carries.

   What: `carry_free` asks whether n mod cut is a linear form on the walk's box, by its extreme corners (`carries` in
         engine/view/merging/merge_symbolic.cpp). `gather` adds up the terms of the inner view. Where the trace holds,
         the value is affine on the box with the slopes that it finds (gather_right).
   Why:  each condition that this needs is asked; none of them is taken from the hints. *)
Require Import ZArith Lia List Bool.
From Oriel Require Import mixed_radix carry_form masked_view canonicalize guards flat_form asking symbolic_view.
From Oriel Require Import merge_walk.
Import ListNotations.
Open Scope Z_scope.

Section Symbolic.
Context {assignment : Type}.
Notation program := (program assignment).
Notation size := (assignment -> Z).
Notation saxis := (@saxis assignment).
Notation mover := (@mover assignment).

(* ---- the linear form of n mod cut *)

Section Run.
Variable h : assignment.

(* of the two slopes that a step has, the one that stays below the cut for the hints *)
Definition slope_in (begin cut : size) (m : mover) : size :=
  fun x => if begin h + step m h mod cut h <? cut h then step m x mod cut x else step m x mod cut x - cut x.

(* how far the slopes whose sign is `up` for the hints reach *)
Fixpoint reach (up : bool) (l : list mover) (slopes : list size) : size :=
  match l, slopes with
  | m :: l, s :: slopes => fun x =>
    (if Bool.eqb (0 <=? s h) up then s x * (width m x - 1) else 0) + reach up l slopes x
  | _, _ => number 0
  end.

Record remainder := Remainder { begin : size; slopes : list size; least : size; greatest : size }.
Definition remainder_of (base cut : size) (l : list mover) : remainder :=
  let b := fun x => base x mod cut x in
  let s := map (slope_in b cut) l in
  Remainder b s (fun x => b x + reach false l s x) (fun x => b x + reach true l s x).

Definition never (r : remainder) (cut : size) : assignment -> bool := fun x =>
  forallb (fun s => Bool.eqb (0 <=? s x) (0 <=? s h)) (slopes r) && (0 <=? least r x) && (greatest r x <? cut x).

(* Is n mod cut the linear form on the whole box? "No" is not asked: no view rests on it. *)
Definition carry_free (r : remainder) (cut : size) : program bool :=
  if (0 <=? least r h) && (greatest r h <? cut h) then Ask (never r cut) (fun b => Ret b) else Ret false.

(* ---- the value *)

Fixpoint add_slopes (coefficient cut : size) (l : list mover) (slopes sum : list size) : list size :=
  match l, slopes, sum with
  | m :: l, s :: slopes, t :: sum =>
    (fun x => t x + coefficient x * ((step m x - s x) / cut x)) :: add_slopes coefficient cut l slopes sum
  | _, _, _ => []
  end.

(* None: some term is not carry-free, so there is no view by these theorems. *)
Fixpoint gather (bs : list saxis) (cut below base : size) (l : list mover) (offset : size) (sum : list size) :
    program (option (size * list size)) :=
  match bs with
  | [] => Ret (Some (offset, sum))
  | b :: bs =>
    let coefficient := fun x => s_stride b x - below x in
    let r := remainder_of base cut l in
    let go := gather bs (fun x => cut x * s_extent b x) (fun x => s_extent b x * s_stride b x) base l in
    bind (given h (is coefficient 0)) (fun idle => if idle then go offset sum else
    bind (carry_free r cut) (fun free => if free
      then go (fun x => offset x + coefficient x * ((base x - begin r x) / cut x))
              (add_slopes coefficient cut l (slopes r) sum)
      else Ret None))
  end.

(* ---- at one assignment *)

Variable x : assignment.

Notation inside := (inside x).
Notation walked := (walked x).

Fixpoint linear (l : list mover) (slopes : list size) (y : list Z) : Z :=
  match l, slopes, y with
  | m :: l, s :: slopes, j :: y => s x * (j - start m x) + linear l slopes y
  | _, _, _ => 0
  end.
(* the same, with the slopes of the quotient *)
Fixpoint quotient (cut : size) (l : list mover) (slopes : list size) (y : list Z) : Z :=
  match l, slopes, y with
  | m :: l, s :: slopes, j :: y => (step m x - s x) / cut x * (j - start m x) + quotient cut l slopes y
  | _, _, _ => 0
  end.

Lemma slope_divides b cut m : 0 < cut x ->
  step m x = slope_in b cut m x + cut x * ((step m x - slope_in b cut m x) / cut x).
Proof.
  intro C. unfold slope_in. set (t := step m x). set (c := cut x) in *. pose proof (Z.div_mod t c ltac:(lia)).
  destruct (_ <? _).
  - replace (t - t mod c) with (t / c * c) by lia. rewrite Z.div_mul by lia. lia.
  - replace (t - (t mod c - c)) with ((t / c + 1) * c) by lia. rewrite Z.div_mul by lia. lia.
Qed.

Lemma walked_split b cut l : 0 < cut x -> forall y,
  walked l y = linear l (map (slope_in b cut) l) y + cut x * quotient cut l (map (slope_in b cut) l) y.
Proof.
  intro C. induction l as [|m l IH]; intros [|j y]; cbn [merge_walk.walked linear quotient map]; try lia.
  rewrite IH. rewrite (slope_divides b cut m C) at 1. ring.
Qed.

Lemma linear_reach l : forall slopes y, inside l y -> length slopes = length l ->
  forallb (fun s => Bool.eqb (0 <=? s x) (0 <=? s h)) slopes = true ->
  reach false l slopes x <= linear l slopes y <= reach true l slopes x.
Proof.
  induction l as [|m l IH]; intros [|s slopes] [|j y] I L F; simpl in *; try discriminate; try contradiction.
  { unfold number. lia. }
  destruct I as [Hj I]. apply andb_true_iff in F. destruct F as [E F]. apply eqb_prop in E.
  specialize (IH slopes y I ltac:(congruence) F).
  destruct (0 <=? s h); simpl; [apply Z.leb_le in E | apply Z.leb_gt in E]; nia.
Qed.

(* Theorem L, as far as the merge uses it *)
Lemma never_right base cut l : 0 < cut x -> let r := remainder_of base cut l in never r cut x = true ->
  forall y, inside l y ->
  (base x + walked l y) mod cut x = begin r x + linear l (slopes r) y /\
  (base x + walked l y) / cut x = (base x - begin r x) / cut x + quotient cut l (slopes r) y /\
  least r x <= begin r x + linear l (slopes r) y <= greatest r x.
Proof.
  intros C r N y I. unfold never in N. rewrite !andb_true_iff, Z.leb_le, Z.ltb_lt in N. destruct N as [[S Lo] Hi].
  pose proof (linear_reach l (slopes r) y I ltac:(apply map_length) S) as R.
  pose proof (walked_split (begin r) cut l C y) as W. change (map _ l) with (slopes r) in W.
  assert (B : least r x <= begin r x + linear l (slopes r) y <= greatest r x) by (simpl in *; lia).
  assert (E : base x - begin r x = cut x * (base x / cut x)).
  { simpl. pose proof (Z.div_mod (base x) (cut x) ltac:(lia)). lia. }
  assert (D : (base x - begin r x) / cut x = base x / cut x) by (rewrite E, Z.mul_comm, Z.div_mul; lia).
  rewrite D. repeat split; try apply B.
  - symmetry. apply (Z.mod_unique _ _ (base x / cut x + quotient cut l (slopes r) y)); [left; lia | lia].
  - symmetry. apply (Z.div_unique _ _ _ (begin r x + linear l (slopes r) y)); [left; lia | lia].
Qed.

Lemma carry_free_right r cut : ensures h x (carry_free r cut) (fun free => free = true -> never r cut x = true).
Proof.
  unfold carry_free. destruct (_ && _); [|by_ret; discriminate]. apply ensures_ask. intros b _ E. by_ret. congruence.
Qed.

(* ---- the value *)

Lemma add_slopes_length c cut l : forall s t, length s = length l -> length t = length l ->
  length (add_slopes c cut l s t) = length l.
Proof. induction l as [|m l IH]; intros [|a s] [|b t] L K; simpl in *; try discriminate; auto. Qed.

Lemma add_slopes_linear c cut l : forall s t y, length s = length l -> length t = length l ->
  linear l (add_slopes c cut l s t) y = linear l t y + c x * quotient cut l s y.
Proof.
  induction l as [|m l IH]; intros [|a s] [|b t] [|j y] L K; simpl in *; try discriminate; try lia.
  rewrite IH by congruence. ring.
Qed.

Theorem gather_right bs l base : Forall (fun b => 0 < s_extent b x) bs -> forall cut below offset sums, 0 < cut x ->
  length sums = length l ->
  ensures h x (gather bs cut below base l offset sums) (fun r => match r with
    | None => True
    | Some (offset', sums') => length sums' = length l /\ forall y, inside l y ->
        offset' x + linear l sums' y = offset x + linear l sums y +
          sum (terms (map (fun b => (s_extent b x, s_stride b x)) bs) (cut x) (below x)) (base x + walked l y)
    end).
Proof.
  induction 1 as [|b bs S Hs IH]; intros cut below offset sums C L; simpl gather.
  { by_ret. split; auto. intros. simpl. lia. }
  specialize (IH (fun x => cut x * s_extent b x) (fun x => s_extent b x * s_stride b x)). unfold is. by_given.
  { match goal with H : (_ - _ =? 0) = true |- _ => apply Z.eqb_eq in H end.
    apply (ensures_weaken _ _ _ _ _ (IH offset sums ltac:(simpl; nia) L)).
    intros [[o t]|] R; auto. destruct R as [R1 R2]. split; auto. intros y Iy. rewrite R2 by auto. simpl.
    replace (s_stride b x - below x) with 0 by lia. lia. }
  by_bind. apply (ensures_weaken _ _ _ _ _ (carry_free_right (remainder_of base cut l) cut)).
  intros [] N; [|by_ret; exact I]. specialize (N eq_refl). pose proof (never_right base cut l C N) as M.
  cbv zeta in M. set (r := remainder_of base cut l) in *.
  assert (Lr : length (slopes r) = length l) by apply map_length.
  eapply ensures_weaken; [apply IH; [simpl; nia | apply add_slopes_length; auto]|].
  intros [[o t]|] R; auto. destruct R as [R1 R2]. split; auto. intros y Iy. rewrite R2 by auto.
  rewrite add_slopes_linear by auto. cbn [map terms sum]. destruct (M y Iy) as (_ & -> & _). unfold r.
  cbn [begin slopes remainder_of]. ring.
Qed.
End Run.
End Symbolic.
