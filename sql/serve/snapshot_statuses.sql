-- How complete some snapshots are. View `asked_markers`: one row per snapshot.
select snapshot_id, listing_status, reports_status from asked_markers
