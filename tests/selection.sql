-- #q=the&is.strategies=small-talk&not.satisfaction=Undecided&min.points=10&is.deal=yes&max.turns=14&min.participants.extraversion=2&sort=-opponent+likeness
with sides as (
    select dialogue_id, speaker from casino.strategies where list_has_any(labels, ['small-talk'])
    intersect select dialogue_id, speaker from casino.participants where points_scored >= 10 and satisfaction <> 'Undecided' and extraversion >= 2
)
select dialogue_id from casino.dialogues d
where dialogue_id in (select dialogue_id from sides)
    and (select count(*) from casino.utterances t where t.dialogue_id = d.dialogue_id) <= 14
    and dialogue_id in (select dialogue_id from casino.results where deal)
    and (dialogue_id in (select dialogue_id from casino.utterances where contains(lower(nfc_normalize(case when data is null and issue2youget is null then text end)), 'the')))
order by (select max(enum_code(opponent_likeness)) from casino.participants t where t.dialogue_id = d.dialogue_id and (dialogue_id, speaker) in (from sides)) desc nulls last, split, place_in_split
-- finds 2001, 2002, 2004
