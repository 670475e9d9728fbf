import { Migration } from '@mikro-orm/migrations';

/**
 * Each entry of the audit log, and each change of one, appends a link whose hash covers the link before: a changed,
 * removed or slipped-in entry shows (`verify-chain.ts`). Triggers write them, so that those of processes of the release
 * before have links, too. They run at the commit, so that the lock that keeps numbers without a gap is the last one that
 * a transaction takes.
 *
 * Entries from before get their links here, in the order of their ids.
 */
export class Migration0031_audit_chain extends Migration {
  override up(): void {
    this.addSql(
      `create table "audit_link" (
        "number" bigint not null,
        "entry_id" uuid not null,
        "content" bytea not null,
        "is_final" boolean not null,
        "hash" bytea not null,
        primary key ("number")
      );`,
    );
    this.addSql(
      `create function audit_content(entry audit_entry) returns bytea language sql stable as $$
        select sha256(convert_to(jsonb_build_array(entry.id, extract(epoch from entry.at), entry.actor, entry.action,
          entry.target, entry.detail)::text, 'UTF8'))
      $$;`,
    );
    this.addSql(
      `create function audit_hash(before bytea, number bigint, entry_id uuid, content bytea, is_final boolean)
        returns bytea language sql immutable as $$
        select sha256(before || int8send(number) || uuid_send(entry_id) || content || boolsend(is_final))
      $$;`,
    );
    this.addSql(
      `create function append_audit_link(entry audit_entry) returns void language plpgsql as $$
        declare
          last audit_link;
          content bytea := audit_content(entry);
          is_final boolean := entry.detail->>'result' is distinct from 'STARTED';
        begin
          perform pg_advisory_xact_lock(7215004);
          select * into last from audit_link order by number desc limit 1;
          last.number := coalesce(last.number, 0) + 1;
          insert into audit_link (number, entry_id, content, is_final, hash) values (last.number, entry.id, content,
            is_final, audit_hash(coalesce(last.hash, ''), last.number, entry.id, content, is_final));
        end
      $$;`,
    );
    this.addSql(
      `create function link_audit_entry() returns trigger language plpgsql as $$
        begin
          perform append_audit_link(new);
          return null;
        end
      $$;`,
    );
    // Before the trigger, which stops writers. By the index, as its order is that of the ids.
    this.addSql(
      `do $$ declare entry audit_entry; begin
        perform set_config('enable_seqscan', 'off', true);
        for entry in select * from audit_entry order by id loop
          perform append_audit_link(entry);
        end loop;
      end $$;`,
    );
    this.addSql(
      `create constraint trigger "audit_entry_linked" after insert or update on "audit_entry"
        deferrable initially deferred for each row execute function link_audit_entry();`,
    );
    // What was written in between: an id is drawn, and a result added, less than an hour around an entry.
    this.addSql(
      `do $$ declare
        entry audit_entry;
        last_ms bigint := (select ('x' || left(replace(entry_id::text, '-', ''), 12))::bit(48)::bigint
          from audit_link order by number desc limit 1);
        since uuid := (lpad(to_hex(greatest(coalesce(last_ms, 0) - 3600000, 0)), 12, '0') || repeat('0', 20))::uuid;
      begin
        for entry in select * from audit_entry e where id >= since
          and not exists (select from audit_link l where l.entry_id = e.id and l.content = audit_content(e)) order by id
        loop
          perform append_audit_link(entry);
        end loop;
      end $$;`,
    );
  }
}
