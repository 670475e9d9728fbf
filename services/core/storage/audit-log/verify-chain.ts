/** Verifies that no entry of the audit log was changed, removed or slipped in (migration 0031). */
import { type Query, sql } from '../database.ts';

/** A fault of the chain. */
export interface ChainFault {
  /** The entry, or `link N` when a link itself is at fault. */
  readonly at: string;
  readonly expected: string;
  readonly found: string;
}

/** A place in the chain: its newest link, or an earlier one that somebody wrote down. */
export interface ChainHead {
  /** From 1, without gaps; 0 = the log is empty. */
  readonly number: bigint;
  /** SHA-256 of everything up to here, hex; of one that was kept, maybe the first half. */
  readonly hash: string;
}

export interface VerifiedChain {
  readonly entries: number;
  readonly head: ChainHead;
  /** The first `most` faults. */
  readonly faults: readonly ChainFault[];
}

/** Reads `NUMBER:HASH`, as the audit prints a head, and the stream of entries. Throws an Error for anything else. */
export function readHead(text: string): ChainHead {
  const [, number, hash] = /^([1-9][0-9]{0,17}):([0-9a-f]{64}|[0-9a-f]{32})$/.exec(text) ?? [];
  if (number === undefined || hash === undefined) throw new Error('--head must be NUMBER:HASH, as an audit printed it');
  return { number: BigInt(number), hash };
}

/**
 * Reads the whole log. Who can write to the database can also make all hashes anew, or cut off the end: only a head that
 * was kept elsewhere shows that. `kept`: such a head, which the chain must still contain.
 */
export async function verifyChain(query: Query, most: number, kept?: ChainHead): Promise<VerifiedChain> {
  const faults = await query<ChainFault>(FAULTS, [most]);
  const [newest] = await query<ChainHead & { entries: bigint }>(HEAD, []);
  const { entries = 0n, number = 0n, hash = '' } = newest ?? {};
  const own = kept && (await query<{ hash: string }>(LINK, [String(kept.number)]));
  const isLost = kept !== undefined && !own?.[0]?.hash.startsWith(kept.hash);
  const lost = isLost
    ? [
        {
          at: `link ${kept.number}`,
          expected: `hash ${kept.hash}`,
          found: own?.[0] ? `hash ${own[0].hash}` : 'no link',
        },
      ]
    : [];
  return { entries: Number(entries), head: { number: BigInt(number), hash }, faults: [...lost, ...faults] };
}

const FAULTS = sql('verify-audit-chain')`with link as materialized (
    select number, entry_id, content, is_final, hash, lag(number, 1, 0::bigint) over chain as number_before,
      lag(hash, 1, ''::bytea) over chain as hash_before,
      row_number() over (partition by entry_id order by number desc) = 1 as is_newest,
      lag(is_final) over (partition by entry_id order by number) as was_final
    from audit_link window chain as (order by number)
  )
  select * from (
    select 'link ' || number as at, 'link ' || number_before + 1 || ' before it' as expected, 'none' as found from link
      where number <> number_before + 1
    union all
    select 'link ' || number, 'the hash of its content and of the link before', 'another one' from link
      where number = number_before + 1
        and hash <> audit_hash(hash_before, number, entry_id, content, is_final)
    union all
    select entry_id::text, 'the entry as link ' || number || ' has it',
      case when e.id is null then 'no entry' else 'another content' end
      from link left join audit_entry e on e.id = link.entry_id
      where is_newest and (e.id is null or audit_content(e) <> content)
    union all
    select entry_id::text, 'no change after its result', 'one in link ' || number from link where was_final
    union all
    select e.id::text, 'a link', 'none' from audit_entry e
      where not exists (select from audit_link l where l.entry_id = e.id)
  ) faults limit $1`;

const HEAD = sql('read-audit-chain-head')`select number, encode(hash, 'hex') as hash,
    (select count(*) from audit_entry) as entries from audit_link order by number desc limit 1`;

const LINK = sql('read-audit-link')`select encode(hash, 'hex') as hash from audit_link where number = $1::bigint`;
