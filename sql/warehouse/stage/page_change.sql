-- One change of a page, if it happened. `seen`: where it was seen, with the snapshot that it is compared with.
create or replace temp macro page_change(happened, kind, was, becomes, seen) as if(
  happened,
  {
    change: kind,
    details: {from_value: was::varchar, to_value: becomes::varchar, from_snapshot_id: seen."from", observed_at: seen."at"}
  },
  null
)
