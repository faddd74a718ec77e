(* The adjoint of a view by its steps and counts: axes that nest, and a fibre of axes that do not.

   What: axes nest if each step is larger than all smaller ones reach together. Then no element is shown twice, and
         quotient and remainder find the index that shows an element (greedy_iff, nested_injective), so the adjoint
         reads the cotangent there, or is zero (nested_adjoint). Other axes make a fibre: the adjoint is the sum over
         its indices of the nested adjoint, shifted (fibre_adjoint, fibre_terms). The number of terms is the product of
         the fibre's counts (fibre_count), whatever the size of the source. adjoint_as_terms is about all axes together.
   Why:  engine/grad/adjoint.cpp writes the adjoint as a sum of shifted and padded views in this way.
   The order of axes does not matter (axes_reordered), so here the axis of the greatest step comes first. *)
Require Import ZArith Lia List Bool Permutation.
From Oriel Require Import mixed_radix affine view_adjoint.
Import ListNotations.
Open Scope Z_scope.

(* ---- the indices of a box *)

Fixpoint indices (e : list Z) : list (list Z) :=
  match e with
  | [] => [[]]
  | n :: e => flat_map (fun j => map (cons j) (indices e)) (range n)
  end.

Lemma in_indices e : forall i, In i (indices e) <-> box e i.
Proof.
  induction e as [|n e IH]; intro i; simpl.
  - destruct i; [tauto|]. split; [intros [[=]|[]] | intros []].
  - rewrite in_flat_map. split.
    + intros (j & Hj & H). apply in_map_iff in H. destruct H as (x & <- & Hx).
      split; [apply in_range, Hj | apply IH, Hx].
    + destruct i as [|j x]; [intros []|]. intros [Hj Hx]. exists j. split; [apply in_range, Hj|].
      apply in_map, IH, Hx.
Qed.

Lemma once_app {A} (l m : list A) : NoDup l -> NoDup m -> (forall x, In x l -> ~ In x m) -> NoDup (l ++ m).
Proof.
  induction 1 as [|x l Not _ IH]; simpl; auto. intros M D. constructor; [|apply IH; auto].
  rewrite in_app_iff. intros [H|H]; [auto | apply (D x); auto].
Qed.

Lemma indices_once e : NoDup (indices e).
Proof.
  induction e as [|n e IH]; simpl; [repeat constructor; auto|].
  assert (N := range_once n). induction N as [|j l Not _ IHl]; simpl; [constructor|].
  apply once_app; auto.
  - apply FinFun.Injective_map_NoDup; auto. intros a b [=]; auto.
  - intros x Hx Hl. apply in_map_iff in Hx. destruct Hx as (y & <- & _).
    apply in_flat_map in Hl. destruct Hl as (k & Hk & Hl). apply in_map_iff in Hl.
    destruct Hl as (z & [= -> _] & _). contradiction.
Qed.

Lemma range_length n : 0 <= n -> Z.of_nat (length (range n)) = n.
Proof. unfold range. rewrite map_length, seq_length. lia. Qed.

Theorem fibre_count e : positive e -> Z.of_nat (length (indices e)) = product e.
Proof.
  unfold product. induction 1 as [|n e Hn _ IH]; simpl; auto. rewrite <- IH. clear IH.
  rewrite <- (range_length n) at 2 by lia. generalize (range n) as l.
  induction l as [|j l IHl]; [reflexivity|]. cbn [flat_map length].
  rewrite app_length, map_length, Nat2Z.inj_add, Nat2Z.inj_succ, IHl. ring.
Qed.

Section Sums.
Context {R : numbers}.

Lemma total_cons n e (f : list Z -> R) :
  total (indices (n :: e)) f = total (range n) (fun j => total (indices e) (fun x => f (j :: x))).
Proof. simpl. rewrite total_flat_map. apply total_ext. intros j _. apply total_map. Qed.

Lemma total_nil (f : list Z -> R) : total (indices []) f = f [].
Proof. simpl. apply add_zero. Qed.

Lemma total_two_boxes e1 : forall e2 (f : list Z -> R),
  total (indices (e1 ++ e2)) f = total (indices e1) (fun x => total (indices e2) (fun y => f (x ++ y))).
Proof.
  induction e1 as [|n e1 IH]; intros e2 f; [rewrite total_nil; reflexivity|].
  simpl app at 1. rewrite !total_cons. apply total_ext. intros j _. rewrite IH. reflexivity.
Qed.
End Sums.

(* ---- the position of an index, and the way back *)

Definition strided (o : Z) (t i : list Z) : option Z := Some (o + dot t i).

Fixpoint reach (t e : list Z) : Z :=
  match t, e with
  | a :: t, n :: e => a * (n - 1) + reach t e
  | _, _ => 0
  end.

Fixpoint nested (t e : list Z) : Prop :=
  match t, e with
  | [], [] => True
  | a :: t, n :: e => reach t e < a /\ nested t e
  | _, _ => False
  end.

(* The index at distance p from the offset, if there is one. *)
Fixpoint greedy (t e : list Z) (p : Z) : option (list Z) :=
  match t, e with
  | a :: t, n :: e => if (0 <=? p / a) && (p / a <? n) then option_map (cons (p / a)) (greedy t e (p mod a)) else None
  | _, _ => if p =? 0 then Some [] else None
  end.

Lemma dot_app t : forall s i j, length i = length t -> dot (t ++ s) (i ++ j) = dot t i + dot s j.
Proof. induction t as [|a t IH]; intros s [|k i] j L; simpl in *; try discriminate; auto. rewrite IH by lia. ring. Qed.

Lemma nested_length t : forall e, nested t e -> length t = length e.
Proof. induction t as [|a t IH]; intros [|n e]; simpl; try contradiction; auto. intros [_ N]. f_equal. apply IH, N. Qed.

Lemma nested_reach t : forall e i, nested t e -> box e i -> 0 <= dot t i <= reach t e.
Proof.
  induction t as [|a t IH]; intros [|n e] [|k i]; simpl; try contradiction; try lia.
  intros [Ha N] [Hk B]. specialize (IH e i N B). nia.
Qed.

Theorem greedy_iff t : forall e p i, nested t e -> (greedy t e p = Some i <-> box e i /\ dot t i = p).
Proof.
  induction t as [|a t IH]; intros [|n e] p i; simpl; try contradiction.
  - intros _. destruct (Z.eqb_spec p 0); split; try discriminate.
    + intros [= <-]. simpl. auto.
    + destruct i; simpl; [auto | intros [[] _]].
    + destruct i; simpl; [intros [_ <-]; contradiction | intros [[] _]].
  - intros [Ha N]. split.
    + destruct (Z.leb_spec 0 (p / a)); [|discriminate]. destruct (Z.ltb_spec (p / a) n); [|discriminate].
      simpl. destruct (greedy t e (p mod a)) as [x|] eqn:E; [|discriminate]. intros [= <-].
      apply IH in E; auto. destruct E as [B D]. simpl. split; [auto|]. rewrite D.
      assert (0 <= dot t x <= reach t e) by (apply nested_reach; auto).
      rewrite <- Z.div_mod; lia.
    + destruct i as [|k i]; [intros [[] _]|]. intros [[Hk B] D]. simpl in D.
      assert (0 <= dot t i <= reach t e) by (apply nested_reach; auto).
      assert (Q : k = p / a) by (apply (Z.div_unique p a k (dot t i)); lia).
      assert (M : dot t i = p mod a) by (apply (Z.mod_unique p a k (dot t i)); lia).
      rewrite <- Q. destruct (Z.leb_spec 0 k); [|lia]. destruct (Z.ltb_spec k n); [|lia]. simpl.
      replace (greedy t e (p mod a)) with (Some i); auto. symmetry. apply IH; auto.
Qed.

Corollary nested_injective t e i j : nested t e -> box e i -> box e j -> dot t i = dot t j -> i = j.
Proof.
  intros N Bi Bj E. assert (Some i = Some j); [|congruence].
  rewrite <- (proj2 (greedy_iff t e (dot t i) i N)), <- (proj2 (greedy_iff t e (dot t i) j N)); auto.
Qed.

(* ---- the adjoint *)

Section Adjoint.
Context {R : numbers}.

Theorem nested_adjoint o t e (g : list Z -> R) p : nested t e ->
  adjoint (indices e) (strided o t) g p = match greedy t e (p - o) with Some i => g i | None => zero end.
Proof.
  intro N. apply (adjoint_of_inverse _ _ (fun p => greedy t e (p - o))); [apply indices_once|].
  intro i. rewrite greedy_iff, in_indices by auto. unfold strided. split.
  - intros [B D]. split; auto. f_equal. lia.
  - intros [B [= D]]. split; auto. lia.
Qed.

Theorem fibre_adjoint o t e s f (g : list Z -> R) p : length t = length e ->
  adjoint (indices (e ++ f)) (strided o (t ++ s)) g p =
  total (indices f) (fun j => adjoint (indices e) (strided o t) (fun i => g (i ++ j)) (p - dot s j)).
Proof.
  intro L. unfold adjoint. rewrite total_two_boxes, total_swap. apply total_ext. intros j _.
  apply total_ext. intros i Hi. apply in_indices, box_length in Hi. unfold strided. rewrite dot_app by congruence.
  simpl. destruct (same (o + (dot t i + dot s j)) p), (same (o + dot t i) (p - dot s j)); auto; lia.
Qed.

Corollary fibre_terms o t e s f (g : list Z -> R) p : nested t e ->
  adjoint (indices (e ++ f)) (strided o (t ++ s)) g p =
  total (indices f) (fun j => match greedy t e (p - dot s j - o) with Some i => g (i ++ j) | None => zero end).
Proof.
  intro N. rewrite fibre_adjoint by (apply nested_length, N). apply total_ext. intros j _. apply nested_adjoint, N.
Qed.

(* Axes of step 0 repeat elements: their sum is taken first, and they count as no terms. *)
Theorem repeated_adjoint o t e f (g : list Z -> R) p : length t = length e ->
  adjoint (indices (e ++ f)) (strided o (t ++ origin f)) g p =
  adjoint (indices e) (strided o t) (fun i => total (indices f) (fun j => g (i ++ j))) p.
Proof.
  intro L. unfold adjoint. rewrite total_two_boxes. apply total_ext. intros i Hi. rewrite shown_total.
  apply total_ext. intros j _. apply in_indices, box_length in Hi. unfold strided.
  rewrite dot_app, origin_dot, Z.add_0_r by congruence. reflexivity.
Qed.
End Adjoint.

(* ---- axes in any order *)

Definition steps (axes : list (Z * Z)) := map fst axes.
Definition counts (axes : list (Z * Z)) := map snd axes.

Lemma adjoint_cons {R : numbers} o a t n e (g : list Z -> R) p :
  adjoint (indices (n :: e)) (strided o (a :: t)) g p =
  total (range n) (fun k => adjoint (indices e) (strided (o + a * k) t) (fun x => g (k :: x)) p).
Proof.
  unfold adjoint. rewrite total_cons. apply total_ext. intros k _. apply total_ext. intros x _. unfold strided. simpl.
  rewrite Z.add_assoc. reflexivity.
Qed.

(* b takes an index of the axes in their new order to one in the old order. *)
Theorem axes_reordered axes axes' : Permutation axes axes' -> exists b, forall (R : numbers) (g : list Z -> R) o p,
  adjoint (indices (counts axes)) (strided o (steps axes)) g p =
  adjoint (indices (counts axes')) (strided o (steps axes')) (fun i => g (b i)) p.
Proof.
  induction 1 as [|[a n] l l' _ [b B]|[a n] [a' n'] l|l l' l'' _ [b B] _ [b' B']].
  - exists (fun i => i). reflexivity.
  - exists (fun i => match i with k :: x => k :: b x | [] => [] end). intros. unfold counts, steps in *. simpl map.
    rewrite !adjoint_cons. apply total_ext. intros k _. apply (B R (fun x => g (k :: x))).
  - exists (fun i => match i with k :: j :: x => j :: k :: x | _ => [] end). intros. unfold counts, steps in *.
    simpl map. rewrite !adjoint_cons.
    etransitivity; [apply total_ext; intros k _; apply adjoint_cons|]. rewrite total_swap.
    apply total_ext. intros j _. rewrite adjoint_cons. apply total_ext. intros k _.
    replace (o + a * j + a' * k) with (o + a' * k + a * j) by ring. reflexivity.
  - exists (fun i => b (b' i)). intros. rewrite B. apply B'.
Qed.

(* The whole of it: nested axes, a fibre, and axes that stay where they are. *)
Theorem adjoint_as_terms axes nest fibre still : Permutation axes (nest ++ fibre ++ still) ->
  nested (steps nest) (counts nest) -> Forall (fun a => fst a = 0) still ->
  exists b, forall (R : numbers) (g : list Z -> R) o p,
    adjoint (indices (counts axes)) (strided o (steps axes)) g p =
    total (indices (counts fibre)) (fun j =>
      match greedy (steps nest) (counts nest) (p - dot (steps fibre) j - o) with
      | Some i => total (indices (counts still)) (fun k => g (b (i ++ j ++ k)))
      | None => zero
      end).
Proof.
  intros P N S. destruct (axes_reordered _ _ P) as [b B]. exists b. intros. rewrite B.
  assert (Z0 : steps still = origin (counts still)).
  { clear P B. induction S as [|x l E _ IH]; simpl in *; auto. rewrite E, IH. reflexivity. }
  unfold steps, counts in *. rewrite app_assoc, !map_app with (l' := still), Z0.
  rewrite repeated_adjoint by (rewrite !map_length; reflexivity). rewrite !map_app, fibre_terms by exact N.
  apply total_ext. intros j _. destruct (greedy _ _ _) as [i|]; auto.
  apply total_ext. intros k _. rewrite app_assoc. reflexivity.
Qed.
