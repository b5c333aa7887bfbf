module formatbench/foreign

go 1.26

require (
	github.com/apache/arrow-go/v18 v18.8.0
	github.com/hamba/avro/v2 v2.31.0
	github.com/parquet-go/parquet-go v0.32.0
	github.com/xuri/excelize/v2 v2.11.1
)
