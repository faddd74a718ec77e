(* The flat form of a masked view: it is valid at flat index n exactly if n keeps one interval constraint for each
   axis, and its value there is the carry form.

   What: axis k over width W says lo_k <= (n / W) mod s_k < hi_k, which is lo_k * W <= n mod (W * s_k) < hi_k * W.
   Why:  put n = O + T.x, an outer view's walk: a merge is then two questions about numbers, where the constraints
         hold and whether the carries add up to an affine map. The files after this one answer them. *)
Require Import ZArith Lia List Bool.
From Oriel Require Import mixed_radix carry_form masked_view.
Import ListNotations.
Open Scope Z_scope.

Record constraint := Constraint { modulus : Z; low : Z; high : Z }.
Definition holds (n : Z) (c : constraint) := low c <= n mod modulus c < high c.

Fixpoint constraints (l : list axis) (W : Z) : list constraint :=
  match l with
  | [] => []
  | a :: l => Constraint (W * extent a) (lo a * W) (hi a * W) :: constraints l (W * extent a)
  end.

Lemma digit_constraint W s p q n : 0 < W -> 0 < s ->
  (p <= (n / W) mod s < q <-> p * W <= n mod (W * s) < q * W).
Proof.
  intros HW Hs. destruct (two_digits n W s HW Hs) as [-> _]. pose proof (Z.mod_pos_bound n W HW).
  set (j := n mod W) in *. set (i := (n / W) mod s). split; intro; nia.
Qed.

Lemma valid_iff_constraints o l : Forall (fun a => 1 <= extent a) l -> forall W n, 0 < W ->
  (at_flat o l (n / W) <> None <-> Forall (holds n) (constraints l W)).
Proof.
  induction 1 as [|a l Ha Hl IH]; intros W n HW; simpl.
  { split; [constructor | discriminate]. }
  rewrite Forall_cons_iff, <- IH by nia. rewrite <- Z.div_div by lia. unfold holds at 1. simpl.
  rewrite <- digit_constraint by lia. rewrite <- valid_iff.
  destruct (valid a _); [|split; [congruence | intros [? _]; discriminate]].
  destruct (at_flat o l _); simpl; intuition discriminate.
Qed.

Lemma value_is_plain o l : forall n v, at_flat o l n = Some v -> v = o + val (map (fun a => (extent a, stride a)) l) n.
Proof.
  induction l as [|a l IH]; intros n v H; simpl in *; [injection H; lia|].
  destruct (valid a _); [|discriminate]. destruct (at_flat o l _) as [u|] eqn:U; [|discriminate].
  apply IH in U. injection H as <-. lia.
Qed.

Theorem flat_form o l n : Forall (fun a => 2 <= extent a) l -> 0 <= n < numel l ->
  (Forall (holds n) (constraints l 1) ->
   at_flat o l n = Some (o + sum (terms (map (fun a => (extent a, stride a)) l) 1 0) n)) /\
  (~ Forall (holds n) (constraints l 1) -> at_flat o l n = None).
Proof.
  intros Hl Hn. assert (H1 : Forall (fun a => 1 <= extent a) l) by (revert Hl; apply Forall_impl; intros; lia).
  pose proof (valid_iff_constraints o l H1 1 n ltac:(lia)) as V. rewrite Z.div_1_r in V.
  rewrite carry_form.
  - rewrite <- V. destruct (at_flat o l n) as [v|] eqn:E; [apply value_is_plain in E|]; split; intro X; auto.
    + congruence.
    + destruct X. discriminate.
    + destruct X. reflexivity.
  - unfold wf. rewrite Forall_map. exact Hl.
  - enough (E : size (map (fun a => (extent a, stride a)) l) = numel l) by (rewrite E; exact Hn).
    clear. induction l; simpl; auto. rewrite IHl. reflexivity.
Qed.
