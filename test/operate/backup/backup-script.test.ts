/** services/backup/backup.sh when something goes wrong, on a PostgreSQL and a pgBackRest of this machine. */
import assert from 'node:assert/strict';
import { freePort } from '../../../services/quickstart/ports.ts';
import { namedCode } from '../../docs/code-blocks.ts';
import { standIn } from '../../suite.ts';
import { type BackupServer, canBackUp, startBackupServer } from './backup-server.ts';

const code = namedCode('backup.md');

describe('backup.sh', () => {
  let started: BackupServer | undefined;
  const server = standIn<BackupServer>(() => started);

  before(async function () {
    if (!canBackUp) return this.skip();
    started = await startBackupServer();
    await server.sql('create database holdfast');
    await holdfast('create table installation (backed_up_at timestamptz(3)); create table note (text text)');
    await holdfast('insert into installation values (null)');
  });
  after(() => started?.close());

  const holdfast = async (text: string) =>
    (await server.bash(`psql --no-psqlrc -qtA --set ON_ERROR_STOP=1 --command "${text}" holdfast`)).trim();
  const note = (text: string) => holdfast(`insert into note values ('${text}')`);
  const notes = async () => (await holdfast('select text from note')).split('\n');
  /** When the last verified backup was made, as its label says it. */
  const recorded = () => holdfast("select to_char(backed_up_at, 'YYYYMMDD-HH24MISS') from installation");
  /** Labels of backups: `F` full, `I` incremental. */
  const labels = async () => {
    const info = await server.bash('pgbackrest --stanza=holdfast info');
    return [...info.matchAll(/^ *\w+ backup: (\S+)$/gm)].map(([, label = '']) => label);
  };
  const timeOf = (label = '') => label.slice(-16, -1);

  it('makes a full backup at once, an incremental one each night, and a full one each week', async () => {
    await server.backUp();
    assert.deepEqual((await labels()).map(kindOf), ['F']);
    assert.equal(await server.backUp(), '', 'nothing is due');
    await server.backUp('1 day');
    assert.deepEqual((await labels()).map(kindOf), ['F', 'I']);
    await server.backUp('8 days');
    const made = await labels();
    assert.deepEqual(made.map(kindOf), ['F', 'I', 'F']);
    assert.equal(await recorded(), timeOf(made[2]));
  });

  it('does nothing beside a standby', async () => {
    const port = String(await freePort());
    const target = 'pgbackrest --stanza=holdfast --pg1-path="$RESTORED" --type=standby --archive-mode=off restore';
    const server2 = `pg_ctl --pgdata "$RESTORED" --log restored.log --wait --options "-p ${port}"`;
    await server.bash(`${target}\n${server2} start`);
    const made = await labels();
    try {
      assert.equal(await server.backUp('9 days', `PGPORT=${port}`), '');
      assert.deepEqual(await labels(), made);
    } finally {
      await server.bash(`${server2} --mode immediate stop; rm -r "$RESTORED"`);
    }
  });

  it('keeps the last good backup when the repository is out of reach for fifteen nights', async () => {
    const [made, at] = [await labels(), await recorded()];
    await server.bash('chmod 0 "$BACKUPS/backup/holdfast"');
    for (let night = 1; night <= 15; night++) await assert.rejects(server.backUp(`${night} days`));
    await server.bash('mv "$BACKUPS" mounted && mkdir "$BACKUPS"');
    await assert.rejects(server.backUp('16 days'), 'an empty one is not taken for a new one');
    await server.bash('rm -r "$BACKUPS" && mv mounted "$BACKUPS" && chmod 700 "$BACKUPS/backup/holdfast"');
    assert.deepEqual([await labels(), await recorded()], [made, at]);
  });

  it('takes a backup that was killed half way for none, and makes the next one', async () => {
    const [made, at] = [await labels(), await recorded()];
    // A backup ends when its log is archived: this one is kept from ending.
    await note('before the backup');
    const last = await holdfast('select pg_walfile_name(pg_current_wal_lsn())');
    await server.archiveBy(`test ! "%f" \\> ${last} && ${server.push}`);
    const killed = server.bash(`
      export BACKUP_NOW='30 days'
      setsid --wait bash -c 'echo $$ > group; ${server.script()}' &
      until psql -qtAc "select last_failed_wal > '${last}' from pg_stat_archiver, pg_sleep(0.05)" postgres | grep -q t
      do :; done
      kill -KILL -- "-$(cat group)"
      wait $!`);
    await assert.rejects(killed, { code: 137 });
    await server.archiveBy(server.push);
    assert.deepEqual([await labels(), await recorded()], [made, at]);
    assert.match(await server.bash('pgbackrest --stanza=holdfast verify --output=text --verbose'), /in-progress/);
    await server.backUp('30 days');
    const newest = (await labels()).at(-1);
    assert.notEqual(newest, made.at(-1));
    assert.equal(await recorded(), timeOf(newest));
  });

  it('neither records a damaged backup, nor removes others for it, and begins anew with a full one', async () => {
    const made = await labels();
    await holdfast('update installation set backed_up_at = null');
    const files = `find "$BACKUPS/backup/holdfast/${made.at(-1)}" -path '*/bundle/*' -size +2k`;
    await server.bash(`printf damaged | dd of="$(${files} | head -1)" bs=1 seek=1000 conv=notrunc status=none`);
    await assert.rejects(server.backUp());
    assert.deepEqual([await labels(), await recorded()], [made, '']);
    await server.backUp('1 day');
    const newest = (await labels()).at(-1);
    assert.equal(kindOf(newest), 'F');
    assert.equal(await recorded(), timeOf(newest));
  });

  it('goes on archiving after a crash between a push and its mark', async () => {
    const pushed = await holdfast('select pg_walfile_name(pg_switch_wal())');
    await server.bash('pgbackrest --stanza=holdfast check');
    await server.stop();
    await server.bash(`cd "$PGDATA/pg_wal/archive_status" && mv ${pushed}.done ${pushed}.ready`);
    await server.start();
    await note('after the crash');
    await server.bash('pgbackrest --stanza=holdfast check');
    await server.bash(`test -e "$PGDATA/pg_wal/archive_status/${pushed}.done"`);
    assert.equal(await holdfast('select failed_count from pg_stat_archiver'), '0');
  });

  it('leaves a base for an old time, also when there are newer ones', async () => {
    await holdfast('truncate note');
    await note('before the backup');
    await server.backUp('50 days');
    await note('after the backup');
    const base = (await labels()).at(-1);
    const target = await server.sql('select clock_timestamp()');
    await note('after the time');
    await server.backUp('51 days');
    await server.stop();
    const said = await server.bash(
      `TARGET='${target}'\n${code('restore').replace(' restore', ' --log-level-console=info restore')}`,
    );
    assert.match(said, new RegExp(`restore backup set ${base},`));
    await server.untilPromoted();
    assert.deepEqual(await notes(), ['before the backup', 'after the backup']);
    const left = (await labels()).at(-1);
    await server.backUp();
    const newest = (await labels()).at(-1);
    assert.notEqual(newest, left, 'what was made after the time leads elsewhere');
    assert.deepEqual([kindOf(newest), await recorded()], ['F', timeOf(newest)]);
  });
});

const kindOf = (label = '') => label.at(-1);
