-- compatible
-- An import of an export brings what was published of a project before any run of this store: a rendering without a run.

alter table rendering alter column run_id drop not null;
