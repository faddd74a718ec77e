(* A walk that is row-major over 0 .. count-1 once its axes are sorted by step: the outer view is then a reshape with
   permute, flip, expand and pad on top.

   What: `order_of` sorts by the steps that the hints give; it only chooses what is tried. `row_major` is the condition
         that is asked. Where it holds, the walk is the row-major number of the sorted coordinates (row_major_right).
   Why:  then Theorem R decides (symbolic_reshape.v). *)
Require Import ZArith Lia List Bool Permutation.
From Oriel Require Import mixed_radix guards asking symbolic_view merge_walk symbolic_interval symbolic_reshape.
Import ListNotations.
Open Scope Z_scope.

Section Symbolic.
Context {assignment : Type}.
Notation size := (assignment -> Z).
Notation mover := (@mover assignment).
Notation found := (@found assignment).

Section Run.
Variable h : assignment.

Definition no_mover : mover := Mover true (number 0) (number 0) (number 0).
Definition nowhere : found := Found (number 0) (number 0) (number 0).

Fixpoint insert (key : nat -> Z) (k : nat) (l : list nat) : list nat :=
  match l with
  | [] => [k]
  | q :: r => if key k <=? key q then k :: l else q :: insert key k r
  end.

(* the numbers of the axes, by ascending step; the inner one first among equal steps *)
Definition order_of (l : list mover) : list nat :=
  fold_right (insert (fun k => step (nth k l no_mover) h)) [] (seq 0 (length l)).
Definition sorted (l : list mover) : list mover := map (fun k => nth k l no_mover) (order_of l).

Fixpoint steps_fit (w count : size) (l : list mover) : assignment -> bool :=
  match l with
  | [] => fun x => w x =? count x
  | m :: l => fun x => (step m x =? w x) && steps_fit (fun x => w x * width m x) count l x
  end.
Definition row_major (base count : size) (l : list mover) : assignment -> bool :=
  fun x => (base x =? 0) && steps_fit (number 1) count (sorted l) x.

(* what was found for the sorted axes, in the order of the axes *)
Fixpoint lookup (k : nat) (l : list (nat * found)) : found :=
  match l with
  | [] => nowhere
  | (q, f) :: l => if Nat.eqb k q then f else lookup k l
  end.
Definition unsorted (l : list mover) (r : list found) : list found :=
  map (fun k => lookup k (combine (order_of l) r)) (seq 0 (length l)).

(* ---- *)

Lemma insert_permutation key k l : Permutation (insert key k l) (k :: l).
Proof.
  induction l as [|q l IH]; simpl; auto. destruct (key k <=? key q); auto.
  rewrite IH. apply perm_swap.
Qed.

Lemma order_permutation l : Permutation (order_of l) (seq 0 (length l)).
Proof.
  unfold order_of. induction (seq 0 (length l)) as [|k s IH]; simpl; auto. rewrite insert_permutation, IH. reflexivity.
Qed.

Lemma nth_seq {A} (d : A) l : map (fun k => nth k l d) (seq 0 (length l)) = l.
Proof.
  induction l as [|a l IH]; simpl; auto. f_equal. rewrite <- seq_shift, map_map. exact IH.
Qed.

Lemma lookup_here l : NoDup l -> forall r, length r = length l -> map (fun k => lookup k (combine l r)) l = r.
Proof.
  induction 1 as [|k l N H IH]; intros [|f r] L; simpl in *; try discriminate; auto.
  rewrite Nat.eqb_refl. f_equal. etransitivity; [|apply (IH r); congruence]. apply map_ext_in. intros q Q.
  destruct (Nat.eqb_spec q k) as [->|]; [contradiction | reflexivity].
Qed.

Variable x : assignment.

Definition total (l : list nat) (f : nat -> Z) := fold_right (fun k s => f k + s) 0 l.

Lemma total_permutation l l' f : Permutation l l' -> total l f = total l' f.
Proof. induction 1; simpl; lia. Qed.

Lemma walked_tags L (f : nat -> mover) g :
  walked x (map f L) (map g L) = total L (fun k => step (f k) x * (g k - start (f k) x)).
Proof. induction L; simpl; congruence. Qed.
Lemma inside_tags L (f : nat -> mover) g :
  inside x (map f L) (map g L) <-> Forall (fun k => start (f k) x <= g k < start (f k) x + width (f k) x) L.
Proof. induction L as [|k L IH]; simpl; [split; auto | rewrite Forall_cons_iff, IH; tauto]. Qed.
Lemma found_value_tags L (f : nat -> found) g :
  found_value x (map f L) (map g L) = total L (fun k => slope (f k) x * g k).
Proof. induction L; simpl; congruence. Qed.
Lemma inside_found_tags L (f : nat -> found) g :
  inside_found x (map f L) (map g L) <-> Forall (fun k => from (f k) x <= g k < to (f k) x) L.
Proof. induction L as [|k L IH]; simpl; [split; auto | rewrite Forall_cons_iff, IH; tauto]. Qed.

(* sorted coordinates *)
Definition rearranged (l : list mover) (y : list Z) := map (fun k => nth k y 0) (order_of l).

Lemma forall_permutation {A} (P : A -> Prop) l l' : Permutation l l' -> (Forall P l <-> Forall P l').
Proof. intro H. split; apply Permutation_Forall; auto. symmetry. exact H. Qed.

Lemma sorted_walk l y : length y = length l ->
  walked x l y = walked x (sorted l) (rearranged l y) /\ (inside x l y <-> inside x (sorted l) (rearranged l y)).
Proof.
  intro L. unfold sorted, rearranged. rewrite walked_tags, inside_tags.
  rewrite (total_permutation _ _ _ (order_permutation l)), (forall_permutation _ _ _ (order_permutation l)).
  rewrite <- walked_tags, <- inside_tags, nth_seq. rewrite <- L, nth_seq. tauto.
Qed.

Lemma unsorted_found l r y : length y = length l -> length r = length l ->
  found_value x (unsorted l r) y = found_value x r (rearranged l y) /\
  (inside_found x (unsorted l r) y <-> inside_found x r (rearranged l y)).
Proof.
  intros L R. unfold unsorted, rearranged. pose proof (order_permutation l) as P.
  assert (N : NoDup (order_of l)) by (apply (Permutation_NoDup (Permutation_sym P)), seq_NoDup).
  assert (Lo : length (order_of l) = length l) by (rewrite (Permutation_length P); apply seq_length).
  pose proof (lookup_here _ N r ltac:(congruence)) as E. revert E.
  generalize (fun k => lookup k (combine (order_of l) r)).
  intros g <-. pose proof (nth_seq 0 y) as E. rewrite L in E. revert E. generalize (fun k => nth k y 0). intros f <-.
  rewrite !found_value_tags, !inside_found_tags.
  rewrite (total_permutation _ _ _ P), (forall_permutation _ _ _ P). tauto.
Qed.

Lemma unsorted_bounds l r : Forall2 (within_size x) r (map width (sorted l)) ->
  Forall2 (within_walk x) (unsorted l r) l.
Proof.
  intro F. pose proof (order_permutation l) as P.
  assert (N : NoDup (order_of l)) by (apply (Permutation_NoDup (Permutation_sym P)), seq_NoDup).
  unfold sorted in F. rewrite map_map in F.
  assert (R : length r = length (order_of l)).
  { clear -F. revert F. generalize (order_of l) as s. intro s. revert r.
    induction s; intros [|f r] F; inversion F; subst;
      simpl; auto. }
  pose proof (lookup_here _ N r R) as E. unfold unsorted. revert E.
  generalize (fun k => lookup k (combine (order_of l) r)). intros g <-. rewrite <- (nth_seq no_mover l) at 2.
  assert (G : Forall (fun k => within_size x (g k) (width (nth k l no_mover))) (order_of l)).
  { clear -F. revert F. induction (order_of l) as [|k s IH]; simpl; intro F; constructor;
      inversion F as [|? ? ? ? A B]; subst; auto. }
  apply (forall_permutation _ _ _ P) in G. clear -G. induction G; simpl; constructor; auto.
Qed.

Lemma steps_fit_right l : forall w count y, steps_fit w count l x = true -> Forall (fun m => start m x = 0) l ->
  inside x l y -> box (sizes_at x (map width l)) y /\ walked x l y = w x * ravel (sizes_at x (map width l)) y.
Proof.
  induction l as [|m l IH]; intros w count [|j y] F S I; simpl in *; try contradiction; [split; [auto | lia]|].
  apply andb_true_iff in F. destruct F as [E F]. apply Z.eqb_eq in E. inversion S as [|? ? S0 S']; subst.
  destruct I as [Hj I]. rewrite S0 in *. destruct (IH _ _ y F S' I) as [B W]. cbv beta in W. split.
  - split; [lia | exact B].
  - rewrite W, E. unfold sizes_at. ring.
Qed.

(* Where the walk is row-major, its coordinates are an index of the sorted widths, and it walks their row-major
         number. *)
Theorem row_major_right base count l y : row_major base count l x = true -> Forall (fun m => start m x = 0) l ->
  inside x l y ->
  box (sizes_at x (map width (sorted l))) (rearranged l y) /\
  base x + walked x l y = ravel (sizes_at x (map width (sorted l))) (rearranged l y).
Proof.
  unfold row_major. rewrite andb_true_iff, Z.eqb_eq. intros [B F] S I.
  assert (L : length y = length l).
  { clear -I. revert y I. induction l; intros [|? ?] I; simpl in *; try contradiction; auto. f_equal. apply IHl, I. }
  destruct (sorted_walk l y L) as [W J]. rewrite W, B.
  assert (S' : Forall (fun m => start m x = 0) (sorted l)).
  { unfold sorted. rewrite Forall_map. apply (forall_permutation _ _ _ (order_permutation l)).
    rewrite <- (nth_seq no_mover l) in S at 1. rewrite Forall_map in S. exact S. }
  destruct (steps_fit_right (sorted l) (number 1) count _ F S' (proj1 J I)) as [Bx E]. split; auto.
  rewrite E. unfold number. ring.
Qed.
End Run.
End Symbolic.
