-- compatible
-- What an operator has decided about a project, so that a later record of an import or a sync does not undo it.

alter table project add column operator_state text
  constraint project_operator_state_check check (operator_state in ('active', 'inactive', 'retired'));
comment on column project.operator_state is
  'The state that an operator has set with giving projects set; records that state another one do not change it. Null: records decide.';
