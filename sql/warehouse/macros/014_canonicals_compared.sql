-- How the canonical that the search engine chose compares with the one that the page declares: `match`, `differ`, or
-- `undeclared` if the page declares none; null if the engine has chosen none. The service's own `canonicals_match` is
-- false for `undeclared`, too.
create or replace macro canonicals_compared(engine, declared) as case
  when engine is null then null
  when declared is null then 'undeclared'
  when engine = declared then 'match'
  else 'differ'
end
