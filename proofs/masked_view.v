(* Views with masks, as maps of the flat index and as maps of the index.

   What: an axis has an extent, a stride and a half-open range [lo, hi) of valid positions; a view is an offset and a
         list of axes. `at_flat` reads it at a flat index n, `at_index` at an index x; None stands for "invalid".
         They agree: at_index x = at_flat (ravel x).
   Why:  what a view says is a partial map of the flat index; its shape is one way of writing that map down. *)
Require Import ZArith Lia List Bool.
From Oriel Require Import mixed_radix.
Import ListNotations.
Open Scope Z_scope.

Record axis := Axis { extent : Z; stride : Z; lo : Z; hi : Z }.

Definition valid (a : axis) (i : Z) : bool := (lo a <=? i) && (i <? hi a).
Definition shape (l : list axis) : list Z := map extent l.

Fixpoint numel (l : list axis) : Z :=
  match l with
  | [] => 1
  | a :: l => extent a * numel l
  end.

Definition plus (v : Z) (x : option Z) : option Z :=
  match x with
  | Some w => Some (v + w)
  | None => None
  end.

Fixpoint at_flat (o : Z) (l : list axis) (n : Z) : option Z :=
  match l with
  | [] => Some o
  | a :: l => if valid a (n mod extent a) then plus (stride a * (n mod extent a)) (at_flat o l (n / extent a)) else None
  end.

Fixpoint at_index (o : Z) (l : list axis) (x : list Z) : option Z :=
  match l, x with
  | a :: l, i :: x => if valid a i then plus (stride a * i) (at_index o l x) else None
  | _, _ => Some o
  end.

(* an axis of a view; of one that has indices; of one in which something is valid *)
Definition view_axis (a : axis) := 0 <= lo a <= hi a /\ hi a <= extent a.
Definition sized (a : axis) := 1 <= extent a /\ view_axis a.
Definition ok (a : axis) := 1 <= extent a /\ 0 <= lo a < hi a /\ hi a <= extent a.

Lemma ok_sized a : ok a -> sized a.
Proof. unfold ok, sized, view_axis. lia. Qed.

Lemma valid_iff a i : valid a i = true <-> lo a <= i < hi a.
Proof. unfold valid. rewrite andb_true_iff, Z.leb_le, Z.ltb_lt. tauto. Qed.

Lemma valid_true a i : lo a <= i < hi a -> valid a i = true.
Proof. apply valid_iff. Qed.

Lemma valid_false a i : ~ (lo a <= i < hi a) -> valid a i = false.
Proof. intro H. destruct (valid a i) eqn:E; auto. apply valid_iff in E. contradiction. Qed.

Lemma plus_plus v w x : plus v (plus w x) = plus (v + w) x.
Proof. destruct x; simpl; auto. f_equal. ring. Qed.

Lemma plus_zero x : plus 0 x = x.
Proof. destruct x; auto. Qed.

Lemma plus_offset v l : forall o n, at_flat (o + v) l n = plus v (at_flat o l n).
Proof.
  induction l as [|a l IH]; intros o n; simpl; [f_equal; lia|].
  destruct (valid a _); auto. rewrite IH, !plus_plus. f_equal. lia.
Qed.

Lemma numel_product l : numel l = product (shape l).
Proof. unfold product. induction l as [|a l IH]; simpl; auto. rewrite IH. reflexivity. Qed.

Lemma numel_positive l : Forall ok l -> 1 <= numel l.
Proof. induction 1 as [|a l (A & B & C) _ IH]; simpl; nia. Qed.

Theorem at_index_flat o l : forall x, box (shape l) x -> at_index o l x = at_flat o l (ravel (shape l) x).
Proof.
  induction l as [|a l IH]; intros [|i x] B; simpl in *; try contradiction; auto.
  destruct B as [Hi B]. rewrite (Z.add_comm i).
  destruct (unravel_ravel (ravel (shape l) x) i (extent a) Hi) as [-> ->]. rewrite (IH x B). reflexivity.
Qed.

(* a flat index with a known innermost digit *)
Lemma at_flat_digit o a l q j : 0 <= j < extent a ->
  at_flat o (a :: l) (extent a * q + j) = if valid a j then plus (stride a * j) (at_flat o l q) else None.
Proof. intro Hj. simpl. destruct (unravel_ravel q j (extent a) Hj) as [-> ->]. reflexivity. Qed.
