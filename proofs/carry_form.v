(* Carry form: an unmasked view, as a map of the flat index n, is a sum of terms c * floor(n / W).

   What: W runs over the view's cuts (the products of its inner extents); c is the jump in stride at that cut. Where two
         axes merge, c is 0.
   Why:  it takes the mod out of the view. The floors turn out to be independent (floors.v), so that the non-zero terms
         are all there is to know about the map. *)
Require Import ZArith Lia List.
Import ListNotations.
Open Scope Z_scope.

Notation dim := (Z * Z)%type.                                           (* (extent, stride) *)

Fixpoint size (l : list dim) : Z :=
  match l with
  | [] => 1
  | (s, _) :: l => s * size l
  end.

Fixpoint val (l : list dim) (n : Z) : Z :=                              (* the view at flat index n, offset 0 *)
  match l with
  | [] => 0
  | (s, t) :: l => t * (n mod s) + val l (n / s)
  end.

Definition wf (l : list dim) := Forall (fun d => 2 <= fst d) l.         (* axes of extent 1 are dropped beforehand *)

Lemma size_pos l : wf l -> 1 <= size l.
Proof. induction 1 as [|[s t] l H _ IH]; simpl in *; nia. Qed.

Notation term := (Z * Z)%type.                                          (* (cut W, coefficient c) *)

Fixpoint terms (l : list dim) (W p : Z) : list term :=                  (* p: the stride that continues what is below *)
  match l with
  | [] => []
  | (s, t) :: l => (W, t - p) :: terms l (W * s) (s * t)
  end.

Fixpoint sum (L : list term) (n : Z) : Z :=
  match L with
  | [] => 0
  | (W, c) :: L => c * (n / W) + sum L n
  end.

Lemma sum_terms l : Forall (fun d => 1 <= fst d) l -> forall W p n, 0 < W -> 0 <= n < W * size l ->
  sum (terms l W p) n = val l (n / W) - p * (n / W).
Proof.
  induction 1 as [|[s t] l H Hl IH]; intros W p n HW Hn; simpl in *.
  - rewrite (Z.div_small n W) by lia. ring.
  - rewrite IH by nia. rewrite <- Z.div_div by lia.
    pose proof (Z.div_mod (n / W) s ltac:(lia)) as E.
    set (q := n / W) in *. set (u := q / s) in *. set (v := q mod s) in *. rewrite E. ring.
Qed.

Theorem carry_form l n : wf l -> 0 <= n < size l -> sum (terms l 1 0) n = val l n.
Proof.
  intros Hl Hn. assert (H1 : Forall (fun d => 1 <= fst d) l) by (revert Hl; apply Forall_impl; intros; lia).
  rewrite (sum_terms l H1 1 0 n) by lia. rewrite Z.div_1_r. lia.
Qed.
