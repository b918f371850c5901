-- The pages that are chosen, for which property, and the turn in which each comes.
create or replace temp table chosen_inspections (url varchar, reason varchar, spelling varchar, scope varchar, turn double)
