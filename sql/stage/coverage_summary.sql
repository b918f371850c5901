select * from summary_of('now_coverage')
