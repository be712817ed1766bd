"""Makes the files beside it: valid, of some kilobytes, and of up to 1.2 GB in memory. Equal values pack well."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.ipc as ipc
import pyarrow.parquet as pq

HERE = Path(__file__).parent
ROWS, ITEMS = 5_000_000, 50_000_000


def one_page(name: str, columns: dict[str, object], dictionary: bool) -> None:
    pq.write_table(
        pa.table(columns),
        HERE / name,
        compression="zstd",
        use_dictionary=dictionary,
        row_group_size=ROWS,
        data_page_size=1 << 30,
        write_batch_size=1 << 26,
        max_rows_per_page=ROWS,
    )


def lists(rows: int, item: pa.Scalar) -> pa.Array:
    """All rows but the last are empty."""
    offsets = np.r_[np.zeros(rows, np.int32), np.int32(ITEMS)]
    return pa.ListArray.from_arrays(pa.array(offsets), pa.repeat(item, ITEMS))


halves = np.full(ROWS, 0.5)
columns = {"reward": halves, "mu_1": halves, "pi_1": halves}
one_page("page.parquet", columns, dictionary=False)
batch = pa.RecordBatch.from_pydict({name: pa.array(values) for name, values in columns.items()})
packed = ipc.IpcWriteOptions(compression="zstd")
with ipc.new_file(HERE / "batch.arrow", batch.schema, options=packed) as file:
    file.write_batch(batch)
with ipc.new_stream(HERE / "batch.arrows", batch.schema, options=packed) as stream:
    stream.write_batch(batch)
for name, rows, item in [
    ("list-of-floats.parquet", 1, pa.scalar(0.5, pa.float32())),
    ("list-of-integers.parquet", 1, pa.scalar(1, pa.int64())),
    ("list-behind-others.parquet", 100_000, pa.scalar(1, pa.int64())),
]:
    slots = lists(rows, item)
    one_page(name, {"reward": np.ones(rows), "mu": slots, "pi": slots}, dictionary=True)
