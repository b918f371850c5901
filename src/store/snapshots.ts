import { z } from 'zod';
import type { Reader } from '../analysis/reader.js';
import type { WindowBounds } from '../service/pagination.js';
import type { SnapshotWindow } from '../service/store.js';
import { sql } from '../storage/sql.js';
import { schemaFile } from '../warehouse/layout.js';
import { type Marker, markerPaths } from '../warehouse/markers.js';

const statusRow = z.object({ snapshot_id: z.string(), listing_status: z.string(), reports_status: z.string() });

/**
 * Some of a website's snapshots, newest first. One whose listing retention dropped is none any more.
 *
 * @param markers of the website, oldest first; the files of those outside the window are not read
 */
export async function snapshotsIn(
  reader: Reader,
  markers: readonly Marker[],
  { skip, limit }: WindowBounds,
): Promise<SnapshotWindow> {
  const kept = markers.filter(({ kind, dropped }) => kind === 'snapshot' && !Object.hasOwn(dropped, 'coverage'));
  const shown = kept.toReversed().slice(skip, skip + limit);
  const files = [schemaFile(reader.folder, 'snapshots'), ...markerPaths(shown, 'snapshots')];
  const rows = await reader.engine.rows(statusRow, sql('serve/snapshot_statuses'), { files });
  const statusOf = new Map(rows.map(({ snapshot_id, ...status }) => [snapshot_id, status]));
  const snapshots = shown.map(({ snapshotId, snapshotAt, date, files }) => ({
    id: snapshotId,
    time: snapshotAt,
    date,
    listing_status: statusOf.get(snapshotId)?.listing_status ?? '',
    reports_status: statusOf.get(snapshotId)?.reports_status ?? '',
    pages: files['coverage']?.rows ?? 0,
    reports: files['url_reports']?.rows ?? 0,
  }));
  return { snapshots, count: kept.length };
}
