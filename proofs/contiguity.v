(* Contiguity: the branching loop and the branch-free formula agree.

   What: `branchy` stops at the first axis that does not fit and multiplies only by extents it accepted; `branchless`
         multiplies always and conjoins the verdicts. They are the same function, and both say exactly whether the
         address of every index is its row-major number.
   Why:  the second form can be written over symbolic sizes without recording a guard for each branch; that it means the
         same was left open where it was first proposed. *)
Require Import ZArith Lia List Bool.
Import ListNotations.
Open Scope Z_scope.

Notation dim := (Z * Z)%type.                                           (* (extent, stride) *)

Fixpoint numel (l : list dim) : Z :=
  match l with
  | [] => 1
  | (s, _) :: l => s * numel l
  end.

Fixpoint branchy_loop (l : list dim) (z : Z) : bool :=
  match l with
  | [] => true
  | (s, t) :: l => if s =? 1 then branchy_loop l z
                   else if t =? z then branchy_loop l (z * s) else false
  end.
Definition branchy l := if numel l =? 0 then true else branchy_loop l 1.

Fixpoint flat_loop (l : list dim) (acc : bool) (z : Z) : bool :=
  match l with
  | [] => acc
  | (s, t) :: l => flat_loop l (acc && ((s =? 1) || (t =? z))) (z * s)
  end.
Definition branchless l := (numel l =? 0) || flat_loop l true 1.

(* ---- the two agree *)

Lemma flat_loop_false l : forall z, flat_loop l false z = false.
Proof. induction l as [|[s t] l IH]; simpl; auto. Qed.

Lemma loops_agree l : forall z, flat_loop l true z = branchy_loop l z.
Proof.
  induction l as [|[s t] l IH]; intro z; simpl; auto.
  destruct (Z.eqb_spec s 1) as [->|_]; simpl.
  - rewrite Z.mul_1_r. apply IH.
  - destruct (t =? z); [apply IH | apply flat_loop_false].
Qed.

Theorem contiguity_equiv l : branchless l = branchy l.
Proof. unfold branchless, branchy. rewrite loops_agree. destruct (numel l =? 0); reflexivity. Qed.

(* ---- what both decide *)

Fixpoint inside (l : list dim) (x : list Z) : Prop :=
  match l, x with
  | [], [] => True
  | (s, _) :: l, i :: x => 0 <= i < s /\ inside l x
  | _, _ => False
  end.
Fixpoint address (l : list dim) (x : list Z) : Z :=
  match l, x with
  | (_, t) :: l, i :: x => t * i + address l x
  | _, _ => 0
  end.
Fixpoint row_major (l : list dim) (x : list Z) (z : Z) : Z :=           (* z: the extents below, multiplied *)
  match l, x with
  | (s, _) :: l, i :: x => z * i + row_major l x (z * s)
  | _, _ => 0
  end.

Lemma loop_sound l : forall z, branchy_loop l z = true -> forall x, inside l x -> address l x = row_major l x z.
Proof.
  induction l as [|[s t] l IH]; intros z H [|i x] B; simpl in *; try easy.
  destruct B as [Hi B]. destruct (Z.eqb_spec s 1) as [->|_].
  - rewrite Z.mul_1_r. rewrite (IH z H x B). assert (i = 0) by lia. nia.
  - destruct (Z.eqb_spec t z) as [->|_]; [|easy]. rewrite (IH _ H x B). lia.
Qed.

Definition nonempty (l : list dim) := Forall (fun d => fst d > 0) l.

Fixpoint origin (l : list dim) : list Z :=
  match l with
  | [] => []
  | _ :: l => 0 :: origin l
  end.
Lemma origin_inside l : nonempty l -> inside l (origin l).
Proof. induction 1 as [|[s t] l H _ IH]; simpl in *; auto. split; auto; lia. Qed.
Lemma address_origin l : address l (origin l) = 0.
Proof. induction l as [|[s t] l IH]; simpl; auto. rewrite IH; lia. Qed.
Lemma row_major_origin l : forall z, row_major l (origin l) z = 0.
Proof. induction l as [|[s t] l IH]; intro z; simpl; auto. rewrite IH; lia. Qed.

Lemma loop_complete l : nonempty l -> forall z, (forall x, inside l x -> address l x = row_major l x z) ->
  branchy_loop l z = true.
Proof.
  induction 1 as [|[s t] l Hs Hl IH]; intros z H; simpl in *; auto.
  assert (Rest : forall x, inside l x -> address l x = row_major l x (z * s)).
  { intros x B. specialize (H (0 :: x) ltac:(simpl; split; auto; lia)). simpl in H. lia. }
  destruct (Z.eqb_spec s 1) as [->|E].
  - apply IH. intros x B. rewrite Rest by auto. f_equal. lia.
  - assert (t = z).
    { specialize (H (1 :: origin l) ltac:(simpl; split; [lia | auto using origin_inside])).
      simpl in H. rewrite address_origin, row_major_origin in H. lia. }
    subst t. rewrite Z.eqb_refl. apply IH, Rest.
Qed.

Lemma nonempty_numel l : nonempty l -> 0 < numel l.
Proof. induction 1 as [|[s t] l H _ IH]; simpl in *; nia. Qed.

Theorem contiguous_iff l : nonempty l ->
  (branchless l = true <-> forall x, inside l x -> address l x = row_major l x 1).
Proof.
  intro P. rewrite contiguity_equiv. unfold branchy. pose proof (nonempty_numel l P).
  destruct (Z.eqb_spec (numel l) 0); [lia|]. split; [apply loop_sound | apply loop_complete, P].
Qed.
