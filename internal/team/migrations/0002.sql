-- Schema 2: a row may be a session summary. Its id is made of the session, so a member has
-- one row for each session, and rights, notifications and cursors are those of all rows.

alter table recalld.lesson add column kind text not null default 'lesson' check (kind in ('lesson', 'summary'));
grant insert (kind) on recalld.lesson to recalld_members;
