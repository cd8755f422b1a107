import type { Database } from 'bun:sqlite'

/** Any secret of the database, which tells which master key is wanted; undefined while there is none. */
export function findSealed(db: Database): string | undefined {
  return db
    .query<{ sealed: string }, []>(
      `SELECT secrets_sealed AS sealed FROM releases
       UNION ALL SELECT value_sealed FROM env_vars
       UNION ALL SELECT content_sealed FROM secret_files
       UNION ALL SELECT vars_sealed FROM env_groups
       UNION ALL SELECT key_sealed FROM certificates
       UNION ALL SELECT key_sealed FROM acme_accounts
       UNION ALL SELECT secret_sealed FROM webhooks
       UNION ALL SELECT token_sealed FROM deploy_hooks
       UNION ALL SELECT private_key_sealed FROM deploy_keys
       UNION ALL SELECT secrets_sealed FROM source_host_apps
       UNION ALL SELECT secrets_sealed FROM source_host_installations WHERE secrets_sealed IS NOT NULL
       UNION ALL SELECT coalesce(slack_url_sealed, discord_url_sealed) FROM notification_settings WHERE coalesce(slack_url_sealed, discord_url_sealed) IS NOT NULL
       UNION ALL SELECT admin_password_sealed FROM postgres_databases
       UNION ALL SELECT admin_password_sealed FROM key_value_stores
       UNION ALL SELECT totp_secret_sealed FROM users WHERE totp_secret_sealed IS NOT NULL
       UNION ALL SELECT spent_answer_sealed FROM sessions WHERE spent_answer_sealed IS NOT NULL
       UNION ALL SELECT verifier_sealed FROM oauth_attempts LIMIT 1`,
    )
    .get()?.sealed
}
