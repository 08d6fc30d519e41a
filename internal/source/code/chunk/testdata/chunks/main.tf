terraform {
  required_version = ">= 1.5"
}

locals {
  region = "eu-${var.zone["a"]}"
  tags = {
    a = "b"
  }
}

variable "zone" { type = map(string) }

# The bucket.
resource "aws_s3_bucket" "logs" {
  bucket = "x"
  policy = <<EOT
{ "fake" {
EOT
  lifecycle {
    prevent_destroy = true
  }
}

module "net" { source = "./net" }
output "arn" { value = aws_s3_bucket.logs.arn }
