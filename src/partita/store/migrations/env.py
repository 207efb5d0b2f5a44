"""What Alembic runs: the missing scripts, over the connection that is open already."""

from alembic import context

from partita.store.store import TABLE

context.configure(connection=context.config.attributes["connection"], version_table=TABLE)
with context.begin_transaction():
    context.run_migrations()
