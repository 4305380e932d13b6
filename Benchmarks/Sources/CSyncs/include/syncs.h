#pragma once

/// How often this process has asked the system to make files durable, by whatever library.
long memobench_sync_count(void);
