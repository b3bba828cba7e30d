// Runs PostgreSQL's maintenance now, so that it has current statistics and no background work during a measurement.

export async function tidy(...urls: readonly string[]): Promise<void> {
  for (const url of urls) {
    const connection = new Bun.SQL(url, { max: 1 });
    await connection.unsafe('VACUUM ANALYZE');
    await connection.unsafe('CHECKPOINT');
    await connection.close();
  }
}
